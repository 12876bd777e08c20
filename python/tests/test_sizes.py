"""Estimates, scaling laws, validation, lists and exports from Python."""

import json

import pytest
from conftest import ROOT

import tessera

POINTS = ROOT / "test" / "Data" / "published" / "points.csv"


def test_estimate_of_llama_65b():
    # Published: 1,022,362 GPU-hours on A100, 1.4T tokens (arXiv 2302.13971,
    # table 15), which is a utilisation of 47.7 %.
    e = tessera.estimate("65.2B", "a100-80g-sxm", tokens="1.4T", gpu_hours=1022362)
    assert e.mfu == pytest.approx(0.477, abs=5e-4)
    assert e.min_gpus_training == 13
    assert e.days is None and e.sequence is None
    assert "mfu" in str(e) and "47.7 %" in str(e)
    assert "<table>" in e._repr_html_()


def test_estimate_of_a_config():
    # 16 bytes for each of GPT-2's 1.5B parameters: 24 GB (arXiv 1910.02054).
    e = tessera.estimate("gpt2-xl")
    assert e.training_state_bytes / 1e9 == pytest.approx(24.9, abs=0.2)
    assert e.training_state_bytes == pytest.approx(
        e.weight_bytes + e.gradient_bytes + e.optimizer_bytes
    )
    # Keys and values of 48 layers of 1600, 16 bits, 1024 positions.
    assert e.cache_bytes_per_sequence == 2 * 48 * 1600 * 2 * 1024


def test_warnings_of_the_tool(tmp_path):
    config = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4}
    config.update(num_hidden_layers=2, vocab_size=100, intermediate_size=96, sliding_window=8)
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config))
    with pytest.warns(UserWarning, match="field 'sliding_window' .8. is not read"):
        tessera.estimate(path)


def test_estimate_of_a_layout():
    e = tessera.estimate("llama-13b", "a100-80g-sxm:4x8", layout="tp=2 pp=4 mb=1 sp")
    training = e.ranks["training"]
    assert [stage["stage"] for stage in training] == [0, 1, 2, 3]
    own = tessera.explain("llama-13b", "a100-80g-sxm:4x8", "tp=2 pp=4 mb=1 sp")
    assert max(s["total"] for s in training) == pytest.approx(own.own.memory_bytes)


def test_scale_reproduces_chinchilla():
    # Gopher's budget gives about 70B parameters and 1.4T tokens (arXiv
    # 2203.15556).
    scaling = tessera.scale(flops="5.76e23")
    first = scaling.recommendations[0]
    assert first.parameters == pytest.approx(67e9, rel=0.05)
    assert first.parameters * first.tokens * 6 == pytest.approx(5.76e23)
    assert scaling.flops == 5.76e23
    assert first.law in str(scaling)
    assert scaling.figures["loss"].startswith("<svg ")
    assert "<svg " in scaling._repr_html_()


def test_scale_from_gpu_hours():
    hours = tessera.scale(gpu_hours=1000, chip="a100-80g-sxm", mfu=0.5)
    assert hours.flops == pytest.approx(1000 * 3600 * 312e12 * 0.5)


def test_scale_needs_a_budget():
    with pytest.raises(tessera.TesseraError, match="give a budget"):
        tessera.scale()


def test_validate():
    validation = tessera.validate(POINTS, source="SimuMax")
    assert validation.step_time.runs == len([r for r in validation.runs if r.complete])
    run = next(r for r in validation.runs if r.complete)
    assert run.error == pytest.approx(run.predicted / run.measured - 1)
    assert list(validation.by_source)
    assert "median" in str(validation)
    assert "<svg " in validation._repr_html_()
    frame = pytest.importorskip("pandas") and validation.to_frame()
    assert len(frame) == len(validation.runs)
    with pytest.raises(tessera.TesseraError, match="nowhere.csv"):
        tessera.validate("nowhere.csv")


def test_lists():
    models = {model.name: model for model in tessera.models()}
    # 46.7B in all, 12.9B active (Mistral's announcement).
    assert models["mixtral-8x7b"].parameters == pytest.approx(46.7e9, rel=2e-3)
    assert models["mixtral-8x7b"].active_parameters == pytest.approx(12.9e9, rel=2e-3)
    chips = {chip.name: chip for chip in tessera.clusters()}
    # NVIDIA's data sheets: 312 TFLOP/s and 989 TFLOP/s dense at 16 bits.
    assert chips["a100-80g-sxm"].bf16_tflops == 312
    assert chips["h100-sxm"].bf16_tflops == pytest.approx(989, rel=1e-3)
    assert chips["a100-80g-sxm"].memory_bandwidth_gbps == pytest.approx(2040, rel=2e-2)
    assert chips["a100-80g-sxm"].data["tf32_tflops"] == 156
    assert "mixtral-8x7b" in str(tessera.models())
    assert "<table>" in tessera.clusters()._repr_html_()


def test_export(tmp_path, monkeypatch):
    exported = tessera.export("dp=2 tp=8 pp=4 mb=1 sp", "megatron", global_batch=64, sequence=2048)
    assert "--tensor-model-parallel-size 8" in str(exported)
    assert "--global-batch-size 64" in exported.text
    monkeypatch.chdir(tmp_path)
    assert exported.save().read_text() == exported.text
    plan = tessera.plan("llama-7b", "a100-80g-sxm:1x8", sensitivity=False)
    titan = tessera.export(plan, "torchtitan", model="llama-7b")
    assert titan.file_name.endswith(".toml")
    assert f"seq_len = {plan.sequence}" in titan.text
    gaps = tessera.export("dp=8 zero=3 mb=1 ep=8", "accelerate").not_expressed
    assert any("ep" in gap for gap in gaps)
    with pytest.raises(tessera.TesseraError, match="did you mean 'megatron'"):
        tessera.export("dp=8 mb=1", "megatronn")
