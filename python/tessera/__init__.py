"""Tessera: plan, compile and run sharded transformer models.

Which layout is best on a cluster, and why:

    >>> import tessera
    >>> plan = tessera.plan("llama3-70b", "h100-sxm:16x8")
    >>> print(plan)                 # a notebook shows tables and plots
    >>> plan.to_frame()             # with pandas
    >>> tessera.explain("llama3-70b", "h100-sxm:16x8", "tp=8 pp=4 mb=1 sp").loss

Compiling and running:

    >>> exe = tessera.compile("path/to/model", mesh={"dp": 2, "tp": 2},
    ...                       sequence=128, batch=4, output="model.exe")
    >>> result = exe.run(tokens="tokens.txt")
    >>> result.loss

The functions are typed fronts of the command-line tools; options have the
same names and meanings, and a failing tool raises `TesseraError` with the
tool's own message. The tools are looked up in `$TESSERA_BIN`, then on `PATH`.
"""

from ._catalog import Chip, Model, clusters, models
from ._compile import Executable, Phase, compile, dump, phases
from ._estimate import Estimate, estimate
from ._explain import Change, Explanation, explain
from ._export import ExportedLayout, export
from ._layouts import Candidate, Detail, Kernel, Obstacle, Segment, Timeline
from ._plan import BeyondStack, Certificate, ClusterSize, NextStep, Plan, Sensitivity, plan
from ._run import RunResult, run
from ._scale import Recommendation, Scaling, scale
from ._shown import Figure
from ._tables import Table
from ._tools import TesseraError, find_tool
from ._validate import ErrorSummary, MeasuredRun, Validation, validate

__all__ = [
    "BeyondStack",
    "Candidate",
    "Certificate",
    "Change",
    "Chip",
    "ClusterSize",
    "Detail",
    "ErrorSummary",
    "Estimate",
    "Executable",
    "Explanation",
    "ExportedLayout",
    "Figure",
    "Kernel",
    "MeasuredRun",
    "Model",
    "NextStep",
    "Obstacle",
    "Phase",
    "Plan",
    "Recommendation",
    "RunResult",
    "Scaling",
    "Segment",
    "Sensitivity",
    "Table",
    "TesseraError",
    "Timeline",
    "Validation",
    "clusters",
    "compile",
    "dump",
    "estimate",
    "explain",
    "export",
    "find_tool",
    "models",
    "phases",
    "plan",
    "run",
    "scale",
    "validate",
]
