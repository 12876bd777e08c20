# GoogleTest binaries in build/test/Unit, one lit test per test case.
import os

import lit.formats

config.name = "Tessera-Unit"
config.suffixes = []
config.test_source_root = os.path.join(config.tessera_build, "test", "Unit")
config.test_exec_root = config.test_source_root
config.test_format = lit.formats.GoogleTest(".", "Tests")
for name in ("HOME", "CUDA_PATH", "CUDA_HOME", "VIRTUAL_ENV", "TESSERA_PTXAS", "PATH"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
config.environment["TESSERA_SRC"] = config.tessera_src
config.environment["TESSERA_BUILD"] = config.tessera_build
