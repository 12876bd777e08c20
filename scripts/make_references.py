#!/usr/bin/env python3
"""Makes the small models under test/Data/models and their reference outputs.

Each folder is what `save_pretrained` of the Hugging Face library writes for a
small model with random weights of a fixed seed (config.json, model.safetensors),
and beside it reference.safetensors with what that library computes on PyTorch in
float32 (from the weights as stored, some of them in bfloat16): `tokens` and
`labels` [batch, sequence] (i32, the token that follows, also for a model that has
already seen it), `nll` [batch, sequence]
and `loss` []. Also the rotary frequencies under
test/Data/rotary. The model "gopher" is that of gopher_reference.py, which no library
has. The tests need neither PyTorch nor this script.

    python3 scripts/make_references.py [name...]

Needs torch, transformers, safetensors and numpy. Sizes are chosen so that
hidden sizes and head counts are no multiples of the tiles of the kernels.
"""
import argparse
import json
import pathlib
import shutil

import gopher_reference
import torch
import transformers
from safetensors.torch import save_file

ROOT = pathlib.Path(__file__).resolve().parent.parent / "test" / "Data"

# Vocabularies are no multiples of 2 or 3: padding is tested where they are split.
LLAMA = dict(vocab_size=101, hidden_size=44, intermediate_size=72, num_hidden_layers=2,
             num_attention_heads=4, num_key_value_heads=4, head_dim=12, max_position_embeddings=64,
             initializer_range=0.15)

# name -> (configuration class, its arguments, type in the checkpoint)
MODELS = {
    "llama": ("LlamaConfig", LLAMA, torch.float32),
    "llama-gqa": ("LlamaConfig", dict(LLAMA, hidden_size=78, intermediate_size=148, num_attention_heads=6,
                                      num_key_value_heads=2, head_dim=10), torch.bfloat16),
    "llama-mqa-bias": ("LlamaConfig", dict(LLAMA, num_key_value_heads=1, head_dim=20, attention_bias=True,
                                           mlp_bias=True, tie_word_embeddings=True), torch.float32),
    "llama-rope-linear": ("LlamaConfig", dict(LLAMA, rope_parameters=dict(
        rope_type="linear", rope_theta=10000.0, factor=2.5)), torch.bfloat16),
    "llama-rope-llama3": ("LlamaConfig", dict(LLAMA, num_key_value_heads=2, rope_parameters=dict(
        rope_type="llama3", rope_theta=500.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
        original_max_position_embeddings=32)), torch.bfloat16),
    "llama-rope-yarn": ("LlamaConfig", dict(LLAMA, rope_parameters=dict(
        rope_type="yarn", rope_theta=1000.0, factor=4.0, original_max_position_embeddings=16)), torch.bfloat16),
    "mistral-window": ("MistralConfig", dict(LLAMA, hidden_size=72, num_attention_heads=4, num_key_value_heads=2,
                                             head_dim=18, sliding_window=9), torch.bfloat16),
    "qwen2": ("Qwen2Config", dict(LLAMA, hidden_size=48, num_key_value_heads=2, tie_word_embeddings=True),
              torch.float32),
    "qwen2-window": ("Qwen2Config", dict(LLAMA, num_hidden_layers=3, num_key_value_heads=2,
                                         use_sliding_window=True, sliding_window=7, max_window_layers=1),
                     torch.bfloat16),
    "qwen3": ("Qwen3Config", dict(LLAMA, hidden_size=56, num_attention_heads=6, num_key_value_heads=3,
                                  head_dim=16), torch.bfloat16),
    "gpt2": ("GPT2Config", dict(vocab_size=127, n_embd=60, n_layer=2, n_head=6, n_positions=48,
                                initializer_range=0.12, bos_token_id=0, eos_token_id=0), torch.bfloat16),
    "gpt-neox": ("GPTNeoXConfig", dict(vocab_size=113, hidden_size=72, intermediate_size=100, num_hidden_layers=2,
                                       num_attention_heads=6, max_position_embeddings=64, rotary_pct=0.5,
                                       initializer_range=0.12), torch.bfloat16),
    "gpt-neox-sequential": ("GPTNeoXConfig", dict(vocab_size=113, hidden_size=40, intermediate_size=68,
                                                  num_hidden_layers=2, num_attention_heads=2,
                                                  max_position_embeddings=64, rotary_pct=0.3,
                                                  use_parallel_residual=False, hidden_act="gelu_new",
                                                  initializer_range=0.15), torch.float32),
    "bert": ("BertConfig", dict(vocab_size=109, hidden_size=60, intermediate_size=96, num_hidden_layers=2,
                                num_attention_heads=6, max_position_embeddings=48, initializer_range=0.15),
             torch.bfloat16),
}
BATCH, SEQUENCE = 2, 40

# name -> arguments of LlamaConfig; head_dim 64 as in models that people run.
ROTARY = {
    "none": dict(rope_type="default", rope_theta=10000.0),
    "linear": dict(rope_type="linear", rope_theta=10000.0, factor=2.5),
    "llama3": dict(rope_type="llama3", rope_theta=500000.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                   original_max_position_embeddings=8192),
    "yarn": dict(rope_type="yarn", rope_theta=10000.0, factor=16.0, original_max_position_embeddings=4096),
    "yarn-untruncated": dict(rope_type="yarn", rope_theta=150000.0, factor=32.0, beta_fast=24.0, beta_slow=2.0,
                             truncate=False, original_max_position_embeddings=4096),
    "yarn-mscale": dict(rope_type="yarn", rope_theta=10000.0, factor=40.0, mscale=1.0, mscale_all_dim=0.707,
                        original_max_position_embeddings=4096),
    "yarn-factor": dict(rope_type="yarn", rope_theta=10000.0, factor=4.0, attention_factor=1.25,
                        original_max_position_embeddings=2048),
}


def make_model(name: str) -> None:
    kind, arguments, dtype = MODELS[name]
    torch.manual_seed(sum(name.encode()))
    config = getattr(transformers, kind)(**arguments)
    auto = transformers.AutoModelForMaskedLM if kind == "BertConfig" else transformers.AutoModelForCausalLM
    model = auto.from_config(config, dtype=torch.float32).eval()
    with torch.no_grad():
        # Norm weights and biases start as ones and zeros; random ones find more.
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.add_(0.1 * torch.randn_like(parameter))
    folder = ROOT / "models" / name
    if folder.exists():
        shutil.rmtree(folder)
    model.to(dtype).save_pretrained(folder)
    # Computed in float32 from the weights as stored. (Casting the model back would
    # leave its rotary frequencies rounded.)
    model = auto.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    (folder / "generation_config.json").unlink(missing_ok=True)

    tokens = torch.randint(0, config.vocab_size, (BATCH, SEQUENCE + 1))
    labels = tokens[:, 1:].contiguous()
    tokens = tokens[:, :-1].contiguous()
    with torch.no_grad():
        cache = {} if kind == "BertConfig" else dict(use_cache=False)
        logits = model(input_ids=tokens, **cache).logits.float()
        nll = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(),
                                                reduction="none").view(BATCH, SEQUENCE)
        loss = nll.mean()
    save_file({"tokens": tokens.int(), "labels": labels.int(), "nll": nll.contiguous(), "loss": loss},
              folder / "reference.safetensors")
    size = (folder / "model.safetensors").stat().st_size
    print(f"{name}: loss {loss.item():.6f}, {size} bytes of weights")


def make_rotary(name: str) -> None:
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

    config = transformers.LlamaConfig(hidden_size=256, num_attention_heads=4, max_position_embeddings=65536,
                                      rope_parameters=dict(ROTARY[name]))
    kind = config.rope_parameters["rope_type"]
    compute = LlamaRotaryEmbedding.compute_default_rope_parameters if kind == "default" else ROPE_INIT_FUNCTIONS[kind]
    frequencies, factor = compute(config)
    folder = ROOT / "rotary"
    folder.mkdir(parents=True, exist_ok=True)
    lines = [f"factor {factor:.9e}"] + [f"{f:.9e}" for f in frequencies.tolist()]
    (folder / f"{name}.txt").write_text("\n".join(lines) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="models to make; all and the rotary tables without any")
    args = parser.parse_args()
    for name in args.names or [*MODELS, "gopher"]:
        if name == "gopher":
            gopher_reference.make(ROOT / "models" / name, BATCH, SEQUENCE)
        else:
            make_model(name)
    if not args.names:
        for name in ROTARY:
            make_rotary(name)
        versions = {"torch": torch.__version__, "transformers": transformers.__version__}
        (ROOT / "versions.json").write_text(json.dumps(versions, indent=2) + "\n")


if __name__ == "__main__":
    main()
