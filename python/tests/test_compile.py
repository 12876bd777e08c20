"""Compiling and running from Python, against transformers' losses."""

import math

import pytest
from conftest import read_safetensors

import tessera

SHAPE = {"sequence": 40, "batch": 2, "dtype": "f32", "chips": ["sm_80"]}


@pytest.fixture(scope="module")
def executable(model, tmp_path_factory):
    output = tmp_path_factory.mktemp("model") / "model"
    return tessera.compile(model, mesh={"dp": 2}, output=output, **SHAPE)


def test_executable_knows_its_ranks(executable):
    assert executable.ranks == 2
    assert executable.path.is_file()


def test_losses_are_those_of_transformers(executable, reference, tokens, tmp_path):
    output = tmp_path / "losses.safetensors"
    result = executable.run(tokens=tokens, device="virtual", output=output)
    shape, losses = read_safetensors(output)["nll"]
    assert shape == [2, 40]
    counted = 0
    for got, want, label in zip(losses, reference["nll"][1], reference["labels"][1]):
        if label >= 0:
            assert math.isfinite(got) and abs(got - want) < 1e-4
            counted += 1
    assert counted > 70
    assert result.tokens == 80
    assert result.loss == pytest.approx(sum(losses) / len(losses), abs=1e-5)
    assert result.report["mesh"] == {"dp": 2}
    assert result.report["device"] == "virtual GPU"


def test_tokens_can_be_objects(executable, tokens, tmp_path):
    rows = [[int(word) for word in line.split()] for line in tokens.read_text().splitlines()]
    file = executable.run(tokens=tokens, device="virtual")
    assert executable.run(tokens=rows, device="virtual").loss == file.loss
    assert tessera.run(executable.path, tokens=tuple(map(tuple, rows)), device="virtual").loss == file.loss
    stream = [value for row in rows for value in row][:81]
    path = tmp_path / "stream.txt"
    path.write_text(" ".join(map(str, stream)))
    assert executable.run(tokens=stream, device="virtual").loss == executable.run(tokens=path, device="virtual").loss


class Array:
    """What a numpy array shows of itself."""

    def __init__(self, values):
        self.values = values

    def tolist(self):
        return self.values


def test_tokens_can_be_an_array(executable, tokens):
    rows = [[int(word) for word in line.split()] for line in tokens.read_text().splitlines()]
    expected = executable.run(tokens=tokens, device="virtual").loss
    assert executable.run(tokens=Array(rows), device="virtual").loss == expected
    numpy = pytest.importorskip("numpy")
    assert executable.run(tokens=numpy.array(rows), device="virtual").loss == expected


@pytest.mark.parametrize(
    "tokens, error, text",
    [
        (3, TypeError, "expected a file, ids, rows of ids or an array, got int"),
        ([], ValueError, "expected at least one id, got none"),
        ([1, 2.5], TypeError, r"tokens\[1\]: expected a token id, a whole number, got 2.5"),
        ([1, True], TypeError, r"tokens\[1\]: expected a token id"),
        ([1, -2], ValueError, r"tokens\[1\]: expected a token id from 0 to 2147483647, got -2"),
        ([[1, 2], [3]], ValueError, r"tokens\[1\]: expected 2 ids as in the first row, got 1"),
        ([[1, 2], 3], TypeError, r"tokens\[1\]: expected a row of ids like the first, got 3"),
        ([[1, "2"]], TypeError, r"tokens\[0\]\[1\]: expected a token id"),
        (Array(7), TypeError, "got Array"),
    ],
)
def test_tokens_that_are_none(executable, tokens, error, text):
    with pytest.raises(error, match=text):
        executable.run(tokens=tokens, device="virtual")


def test_weights_can_be_elsewhere(executable, model, tokens):
    here = executable.run(tokens=tokens, device="virtual")
    there = executable.run(tokens=tokens, device="virtual", weights=model)
    assert here.loss == there.loss


def test_phases_are_those_of_the_tool():
    names = [phase.name for phase in tessera.phases()]
    assert names[0] == "import" and names[-1] == "binary" and "partition" in names
    assert all(phase.description for phase in tessera.phases())


def test_dump_of_a_phase(model):
    imported = tessera.dump(model, "import", mesh={"dp": 2, "tp": 2}, **SHAPE)
    assert "tessera.attention" in imported and "all_gather" not in imported
    partitioned = tessera.dump(
        model, "partition", mesh={"dp": 2, "tp": 2}, sequence_parallel="on", **SHAPE
    )
    assert 'tessera.all_gather' in partitioned and 'over ["tp"]' in partitioned
