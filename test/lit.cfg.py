# The lit suite: *.mlir and *.test files run through the tools, GoogleTest
# binaries under build/test/Unit run as they are.
import ctypes
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
for name in ("HOME", "CUDA_PATH", "TESSERA_PTXAS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
config.substitutions.append(("%tessera_src", config.tessera_src))
config.substitutions.append(("%tessera_build", config.tessera_build))
config.substitutions.append(("%python", config.python))

# Tests that need `ptxas` say `REQUIRES: ptxas`.
ptxas = os.environ.get("TESSERA_PTXAS") or shutil.which("ptxas")
for guess in ("/usr/local/cuda/bin/ptxas",):
    if not ptxas and os.path.exists(guess):
        ptxas = guess
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
