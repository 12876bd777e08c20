"""Planning from Python: typed answers that print, plot and become frames."""

import dataclasses
import html
import html.parser
import json
import subprocess
import sys
import xml.etree.ElementTree

import pytest

import tessera

CLUSTER = "a100-80g-sxm:4x8"


@pytest.fixture(scope="module")
def plan():
    return tessera.plan("llama-13b", CLUSTER, pareto=True, fix={"pp": 4, "sp": True})


def run_tool(*arguments):
    command = [tessera.find_tool(), *arguments]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)


class Tags(html.parser.HTMLParser):
    """Every tag that is opened is closed, in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen = [], set()
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.seen.add(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.add(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag


def test_numbers_are_the_tools(plan):
    data = run_tool(
        "plan", "llama-13b", "--cluster", CLUSTER, "--fix", "pp=4,sp", "--pareto", "--json"
    )
    for got, want in zip(plan.ranked, data["ranked"]):
        assert got.layout == want["layout_text"]
        assert got.step_seconds == want["step_seconds"]
        assert got.mfu == want["mfu"]
        assert got.memory == want["memory"]
    assert len(plan.ranked) == len(data["ranked"]) > 1
    assert [c.memory_bytes for c in plan.front] == [c["memory_bytes"] for c in data["front"]]
    assert plan.certificate.gap == 0
    assert plan.certificate.space == data["certificate"]["space"]
    assert plan.gpus == 32
    assert plan.best is plan.ranked[0] and plan.runner_up is plan.ranked[1]
    assert plan.best.choices["pp"] == 4 and plan.best.choices["sp"] is True
    assert sum(plan.best.time.values()) == pytest.approx(plan.best.step_seconds)
    assert sum(plan.best.memory.values()) == pytest.approx(plan.best.memory_bytes)


def test_detail(plan):
    timeline = plan.detail.timeline
    assert timeline.stages == len(plan.detail.memory_by_stage) == 4
    assert timeline.seconds == plan.best.step_seconds
    kinds = {segment.kind for segment in timeline.segments}
    assert {"forward", "backward", "gradients", "optimizer", "overhead"} <= kinds
    assert max(segment.end for segment in timeline.segments) == timeline.seconds
    assert max(s["total"] for s in plan.detail.memory_by_stage) == plan.best.memory_bytes
    for kernel in plan.detail.kernels:
        assert kernel.flops_per_second == pytest.approx(kernel.flops / kernel.seconds)
        assert kernel.flops_per_second <= plan.detail.peaks["bf16"]


def test_what_stands_around_a_plan(plan):
    assert any("schedule" in limit for limit in plan.stack_limits)
    assert plan.compile_mesh is None and "pp=4" in plan.not_compiled
    assert [step.purpose for step in plan.next] == ["train with it", "compare your own"]
    for step in plan.next:
        assert step.command.startswith("tessera ")
    beyond = tessera.plan("llama3-70b", "h100-sxm:16x8").beyond_stack
    assert beyond.needs and beyond.needs[0].wanted in str(beyond)


def test_prints(plan):
    text = str(plan)
    assert text.startswith("llama-13b on a100-80g-sxm:4x8, 32 GPUs\nassumed: ")
    assert plan.best.layout in text
    assert "(gap 0)" in text
    assert plan.expected_error["text"] in text
    assert max(map(len, text.splitlines()[2:])) < 160
    # A notebook shows the same sentences, and figures.
    page = plan._repr_html_()
    for line in (plan.expected_error["text"], *map(str, plan.sensitivity)):
        assert html.escape(line[1:]) in page
    tags = Tags(page)
    assert {"table", "svg", "figure"} <= tags.seen
    assert "script" not in tags.seen
    assert page.count("<svg ") == 5
    assert set(plan.figures) == {"timeline", "time", "memory", "roofline", "front"}


def test_figures_can_be_saved(plan, tmp_path):
    figure = plan.figures["timeline"]
    assert figure._repr_svg_().startswith("<svg ")
    figure.save(tmp_path / "timeline.svg")
    root = xml.etree.ElementTree.parse(tmp_path / "timeline.svg").getroot()
    assert root.tag.endswith("svg") and "background:#fff" in root.get("style")


def test_frames(plan):
    pandas = pytest.importorskip("pandas")
    frame = plan.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert len(frame) == len(plan.ranked)
    assert frame["step_seconds"].tolist() == [c.step_seconds for c in plan.ranked]
    assert frame["pp"].unique().tolist() == [4]
    assert frame["time_compute"][0] == plan.best.time["compute"]
    assert frame["memory_weights"][0] == plan.best.memory["weights"]
    segments = plan.detail.timeline.to_frame()
    assert segments["end"].max() == plan.best.step_seconds
    assert len(plan.detail.kernel_frame()) == len(plan.detail.kernels)
    assert plan.detail.memory_frame()["total"].max() == plan.best.memory_bytes
    assert len(tessera.models().to_frame()) == len(tessera.models())


def test_frames_without_pandas(plan, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        plan.to_frame()
    with pytest.raises(ImportError, match="pip install pandas"):
        tessera.models().to_frame()


def test_answers_are_frozen(plan):
    with pytest.raises(dataclasses.FrozenInstanceError):
        plan.model = "another"
    with pytest.raises(dataclasses.FrozenInstanceError):
        plan.best.step_seconds = 0


def test_mesh_goes_to_the_compiler():
    plan = tessera.plan("llama-7b", "a100-80g-sxm:1x8", fix="pp=1,cp=1,zero=1", sensitivity=False)
    mesh = plan.compile_mesh
    assert mesh and mesh["dp"] * mesh["tp"] == 8
    assert not plan.sensitivity
    pipelined = tessera.plan("llama-7b", "a100-80g-sxm:1x8", fix="pp=2", sensitivity=False)
    assert pipelined.compile_mesh is None


def test_number_of_gpus():
    plan = tessera.plan(
        "llama-7b",
        "a100-80g-sxm:4x8",
        gpus_free=True,
        objective="tokens-per-gpu",
        sensitivity=False,
    )
    assert [size.gpus for size in plan.sizes] == [8, 16, 32]
    fitting = [size for size in plan.sizes if size.layout]
    best = min(fitting, key=lambda size: size.value)
    assert plan.gpus == best.gpus
    assert plan.best.step_seconds == best.step_seconds


def test_report_page(tmp_path):
    page = tmp_path / "out.html"
    tessera.plan("llama-7b", "a100-80g-sxm:1x8", report=page, sensitivity=False)
    assert page.read_text().startswith("<!DOCTYPE html>")


def test_explain(plan):
    own = tessera.explain("llama-13b", CLUSTER, "tp=8,pp=4,mb=1,sp,zero=1")
    assert own.fits and own.loss > 0
    assert own.loss == pytest.approx(own.own.step_seconds / own.best.step_seconds - 1)
    assert own.own.layout.startswith("dp=1 tp=8 pp=4")
    assert own.changes and all(c.step_seconds < own.own.step_seconds for c in own.changes)
    assert "your layout takes" in str(own) and "longer than the best" in str(own)
    assert "svg" in Tags(own._repr_html_()).seen
    assert own.own_detail.timeline.seconds == own.own.step_seconds
    assert own.best_detail.timeline.seconds == own.best.step_seconds
    same = tessera.explain("llama-13b", CLUSTER, own.best)
    assert abs(same.loss) < 1e-6
    assert "as good as the best" in str(same)


def test_explain_what_does_not_fit():
    own = tessera.explain("llama-65b", CLUSTER, "dp=32,mb=1")
    assert not own.fits and own.best is not None
    assert own.own.memory_bytes > own.memory_limit_bytes
    assert "does not fit" in str(own)


def test_explain_a_frameworks_file(tmp_path):
    file = tmp_path / "train.sh"
    file.write_text(
        "torchrun pretrain_gpt.py --num-layers 48 --tensor-model-parallel-size 8"
        " --pipeline-model-parallel-size 4 --micro-batch-size 1 --global-batch-size 64"
    )
    own = tessera.explain("llama-13b", CLUSTER, from_file=file)
    assert own.own.choices["tp"] == 8 and own.own.choices["pp"] == 4
    assert own.global_batch == 64
    assert any("48 layers" in note for note in own.notes)
    frame = pytest.importorskip("pandas") and own.to_frame()
    assert frame["which"].tolist() == ["own", "best"]


def test_choices_that_are_off():
    plan = tessera.plan("llama-7b", "h100-sxm:1x8", fix={"tp": 8, "sp": False}, sensitivity=False)
    assert "sp" not in plan.best.layout.split()
    explained = tessera.explain("llama-7b", "h100-sxm:1x8", {"tp": 8, "mb": 1, "sp": False})
    assert explained.own.choices["tp"] == 8 and explained.own.choices["sp"] is False


@pytest.mark.parametrize(
    "arguments, message",
    [({"sequence": True}, "sequence must be a number"), ({"fix": ["tp=8"]}, "got list")],
)
def test_values_of_other_kinds(arguments, message):
    with pytest.raises(TypeError, match=message):
        tessera.plan("llama-7b", "h100-sxm:1x8", **arguments)


def test_a_model_is_no_flag():
    with pytest.raises(tessera.TesseraError, match="model './--help' does not exist"):
        tessera.plan("--help", "h100-sxm:1x8")


def test_errors_carry_the_tools_message():
    with pytest.raises(tessera.TesseraError, match="did you mean 'h100-sxm'") as caught:
        tessera.plan("llama-7b", "h100-sxn:1x8")
    assert caught.value.code == 1
    assert len(str(caught.value).splitlines()) == 1
    with pytest.raises(tessera.TesseraError, match="does not fit"):
        tessera.plan("llama-65b", "a100-80g-sxm:1x8")
    with pytest.raises(tessera.TesseraError, match="--layout is not legal: shard=2"):
        tessera.explain("llama-13b", CLUSTER, "dp=4,tp=8,zero=1,shard=2,mb=1")
    with pytest.raises(tessera.TesseraError, match="give the layout"):
        tessera.explain("llama-13b", CLUSTER)


def test_a_layout_that_the_software_cannot_run():
    layout = "dp=4 tp=2 pp=4 zero=3 mb=1 sp"
    own = tessera.explain("llama-13b", CLUSTER, layout)
    assert [obstacle.wanted for obstacle in own.stack_cannot_run] == ["zero=3 with pp=4"]
    assert own.stack_cannot_run[0].nearest == "zero=1"
    assert own.verdict[0].startswith("NeMo cannot run it: zero=3 with pp=4")
    assert own.expected_error["text"] in str(own)
    for sentence in own.verdict:
        assert sentence in str(own)
        assert html.escape(sentence[1:]) in own._repr_html_()
