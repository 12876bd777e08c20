# The lit suite: *.mlir and *.test files run through the tools, GoogleTest
# binaries under build/test/Unit run as they are.
import ctypes
import glob
import os
import shutil

import lit.formats


config.name = "Tessera"
config.test_source_root = os.path.join(config.tessera_src, "test")
config.test_exec_root = os.path.join(config.tessera_build, "test")
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Unit", "Inputs", "CMakeLists.txt", "lit.cfg.py", "lit.site.cfg.py"]

bin_dir = os.path.join(config.tessera_build, "bin")
config.environment["PATH"] = os.pathsep.join(
    [bin_dir, config.llvm_tools, os.environ["PATH"]]
)
for name in ("HOME", "CUDA_PATH", "CUDA_HOME", "VIRTUAL_ENV", "TESSERA_PTXAS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
config.substitutions.append(("%tessera_src", config.tessera_src))
config.substitutions.append(("%tessera_build", config.tessera_build))
config.substitutions.append(("%python", config.python))

# Tests that need `ptxas` say `REQUIRES: ptxas`.
def find_ptxas():
    """Where the compiler looks for it (findPtxas in lib/Target/Device/Ptxas.cpp)."""
    found = os.environ.get("TESSERA_PTXAS") or shutil.which("ptxas")
    if found:
        return found
    folders = [os.path.join(os.environ[name], "bin") for name in ("CUDA_PATH", "CUDA_HOME") if name in os.environ]
    folders.append("/usr/local/cuda/bin")
    roots = [os.environ.get("VIRTUAL_ENV"), os.path.dirname(os.path.dirname(shutil.which("python3") or "")),
             os.path.expanduser("~/.local"), "/usr/local", "/usr"]
    for root in filter(None, roots):
        for wheel in ("cu13", "cuda_nvcc"):
            folders += glob.glob(os.path.join(glob.escape(root), "lib/python3*/*-packages/nvidia", wheel, "bin"))
    return next((path for folder in folders if os.access(path := os.path.join(folder, "ptxas"), os.X_OK)), None)


ptxas = find_ptxas()
if ptxas:
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", ptxas))
# Tests of what happens without a CUDA driver say `REQUIRES: no-cuda`.
try:
    ctypes.CDLL("libcuda.so.1")
except OSError:
    config.available_features.add("no-cuda")
# A silent FileCheck typo is a test that cannot fail.
config.environment["FILECHECK_OPTS"] = "--enable-var-scope --allow-unused-prefixes=false"
