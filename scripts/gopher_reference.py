"""A small Gopher in PyTorch, the reference of test/Data/models/gopher.

Used by make_references.py. No library runs Gopher (no checkpoint was published), so the
model is written out here from the papers: Rae et al. 2021, arXiv 2112.11446, section 2.1
(RMS norms, relative attention, otherwise Vaswani et al. 2017), and Dai et al. 2019, arXiv
1901.02860, appendix B: the scores by distance are computed for all distances at once and
brought to their places by the shift of that appendix, not looked up pair by pair.
"""
import json
import math

import torch
from safetensors.torch import save_file

CONFIG = dict(architectures=["GopherForCausalLM"], model_type="gopher", hidden_size=44, intermediate_size=76,
              num_hidden_layers=2, num_attention_heads=4, head_dim=12, vocab_size=103, max_position_embeddings=48,
              hidden_act="gelu", rms_norm_eps=1e-6, tie_word_embeddings=True, dtype="float32")


def make_weights(c: dict) -> dict[str, torch.Tensor]:
    hidden, ffn, width = c["hidden_size"], c["intermediate_size"], c["num_attention_heads"] * c["head_dim"]
    weights = {"model.embed_tokens.weight": 0.4 * torch.randn(c["vocab_size"], hidden),
               "model.norm.weight": 1 + 0.1 * torch.randn(hidden),
               "model.content_bias": 0.3 * torch.randn(width), "model.position_bias": 0.3 * torch.randn(width)}
    for layer in range(c["num_hidden_layers"]):
        prefix = f"model.layers.{layer}."
        for name in ("input_layernorm", "post_attention_layernorm"):
            weights[prefix + name + ".weight"] = 1 + 0.1 * torch.randn(hidden)
        for name, out, inner in (("self_attn.q_proj", width, hidden), ("self_attn.k_proj", width, hidden),
                                 ("self_attn.v_proj", width, hidden), ("self_attn.o_proj", hidden, width),
                                 ("self_attn.r_proj", width, hidden), ("mlp.up_proj", ffn, hidden),
                                 ("mlp.down_proj", hidden, ffn)):
            weights[prefix + name + ".weight"] = 0.2 * torch.randn(out, inner)
            if name != "self_attn.r_proj":
                weights[prefix + name + ".bias"] = 0.1 * torch.randn(out)
    return weights


def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight


def forward(c: dict, weights: dict[str, torch.Tensor], tokens: torch.Tensor) -> torch.Tensor:
    batch, length = tokens.shape
    heads, dim, eps = c["num_attention_heads"], c["head_dim"], c["rms_norm_eps"]
    embedding = weights["model.embed_tokens.weight"]
    # Encodings of distances length - 1 ... 0, as the shift wants them.
    distances = torch.arange(length - 1, -1, -1, dtype=torch.float64)
    angles = torch.outer(distances, 10000 ** (-torch.arange(0, c["hidden_size"], 2, dtype=torch.float64) / c["hidden_size"]))
    encodings = torch.cat([angles.sin(), angles.cos()], dim=-1)
    hidden_keys = torch.ones(length, length, dtype=torch.bool).triu(1)
    x = embedding[tokens]
    for layer in range(c["num_hidden_layers"]):
        def linear(name, value):
            prefix = f"model.layers.{layer}.{name}"
            return torch.nn.functional.linear(value, weights[prefix + ".weight"], weights.get(prefix + ".bias"))

        normed = rms_norm(x, weights[f"model.layers.{layer}.input_layernorm.weight"], eps)
        q, k, v = (linear(f"self_attn.{n}_proj", normed).view(batch, length, heads, dim) for n in "qkv")
        r = linear("self_attn.r_proj", encodings).view(length, heads, dim)
        content = torch.einsum("bihd,bjhd->bhij", q + weights["model.content_bias"].view(heads, dim), k)
        position = torch.einsum("bihd,thd->bhit", q + weights["model.position_bias"].view(heads, dim), r)
        # Row i moves left by length - 1 - i: a column of zeros, another row length, without the first row.
        shifted = torch.nn.functional.pad(position, (1, 0)).view(batch, heads, length + 1, length)[:, :, 1:]
        scores = ((content + shifted) / math.sqrt(dim)).masked_fill(hidden_keys, -math.inf)
        mixed = torch.einsum("bhij,bjhd->bihd", scores.softmax(-1), v).reshape(batch, length, heads * dim)
        x = x + linear("self_attn.o_proj", mixed)
        normed = rms_norm(x, weights[f"model.layers.{layer}.post_attention_layernorm.weight"], eps)
        x = x + linear("mlp.down_proj", torch.nn.functional.gelu(linear("mlp.up_proj", normed)))
    return rms_norm(x, weights["model.norm.weight"], eps) @ embedding.T


def make(folder, batch: int, sequence: int) -> None:
    torch.manual_seed(20)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(CONFIG, indent=2) + "\n")
    weights = make_weights(CONFIG)
    save_file(weights, folder / "model.safetensors")
    tokens = torch.randint(0, CONFIG["vocab_size"], (batch, sequence + 1))
    labels, tokens = tokens[:, 1:].contiguous(), tokens[:, :-1].contiguous()
    # In double precision: this is the reference.
    logits = forward(CONFIG, {name: w.double() for name, w in weights.items()}, tokens)
    nll = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none")
    nll = nll.view(batch, sequence).float()
    save_file({"tokens": tokens.int(), "labels": labels.int(), "nll": nll.contiguous(), "loss": nll.mean()},
              folder / "reference.safetensors")
    print(f"gopher: loss {nll.mean().item():.6f}")
