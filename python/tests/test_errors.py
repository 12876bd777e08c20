"""A failing tool raises TesseraError with the tool's own message."""

import pytest

import tessera

SHAPE = {"sequence": 40, "batch": 2, "dtype": "f32", "chips": ["sm_80"]}


def test_heads_that_do_not_divide(model, tmp_path):
    output = tmp_path / "model"
    with pytest.raises(tessera.TesseraError, match=r"heads cannot be divided evenly with tp = 7") as caught:
        tessera.compile(model, mesh={"tp": 7}, output=output, **SHAPE)
    assert caught.value.code == 1
    assert not output.exists()


def test_mesh_axis_of_size_zero(model, tmp_path):
    with pytest.raises(tessera.TesseraError, match=r"mesh 'dp=2,tp=0': expected axis=size"):
        tessera.compile(model, mesh={"dp": 2, "tp": 0}, output=tmp_path / "model", **SHAPE)


def test_unknown_phase(model):
    with pytest.raises(tessera.TesseraError, match=r"unknown phase 'partitoin'.*partition") as caught:
        tessera.dump(model, "partitoin", **SHAPE)
    assert caught.value.code == 2


def test_missing_model(tmp_path):
    with pytest.raises(tessera.TesseraError, match="nowhere"):
        tessera.dump(tmp_path / "nowhere", "import", **SHAPE)


def test_ranks_that_do_not_fit(model, tokens, tmp_path):
    built = tessera.compile(model, output=tmp_path / "model", **SHAPE)
    with pytest.raises(tessera.TesseraError, match="compiled for 1 rank"):
        tessera.run(built.path, tokens=tokens, ranks=2, device="virtual")


def test_token_outside_the_vocabulary(model, tmp_path):
    built = tessera.compile(model, output=tmp_path / "model", **SHAPE)
    tokens = tmp_path / "tokens.txt"
    tokens.write_text(" ".join(["1"] * 79 + ["101"]))
    with pytest.raises(tessera.TesseraError, match="101, outside the vocabulary of 101"):
        built.run(tokens=tokens, device="virtual")


def test_no_tools(monkeypatch, tmp_path):
    monkeypatch.setenv("TESSERA_BIN", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="has no 'tessera'"):
        tessera.phases()
