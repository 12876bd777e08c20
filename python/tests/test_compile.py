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
