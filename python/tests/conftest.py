"""Finds the tools and the small models of the source tree."""

import array
import json
import os
import pathlib
import struct

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session", autouse=True)
def tools():
    """The tools of the build tree, unless TESSERA_BIN names others."""
    if "TESSERA_BIN" not in os.environ:
        os.environ["TESSERA_BIN"] = str(ROOT / "build" / "bin")


@pytest.fixture(scope="session")
def model():
    """A Llama with grouped queries, random weights, and transformers' losses."""
    return ROOT / "test" / "Data" / "models" / "llama-gqa"


def read_safetensors(path):
    """All tensors of a file as (shape, array of numbers)."""
    data = pathlib.Path(path).read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    tensors = {}
    for name, entry in json.loads(data[8 : 8 + size]).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            code = {"F32": "f", "I32": "i"}[entry["dtype"]]
            tensors[name] = (entry["shape"], array.array(code, data[8 + size + begin : 8 + size + end]))
    return tensors


@pytest.fixture(scope="session")
def reference(model):
    """tokens, labels and nll, each as (shape, numbers)."""
    return read_safetensors(model / "reference.safetensors")


@pytest.fixture(scope="session")
def tokens(reference, tmp_path_factory):
    """Rows of sequence + 1 ids: the reference's tokens and the label of the last."""
    (batch, sequence), ids = reference["tokens"]
    labels = reference["labels"][1]
    lines = []
    for row in range(batch):
        last = max(labels[(row + 1) * sequence - 1], 0)
        lines.append(" ".join(map(str, [*ids[row * sequence : (row + 1) * sequence], last])))
    path = tmp_path_factory.mktemp("tokens") / "tokens.txt"
    path.write_text("\n".join(lines) + "\n")
    return path
