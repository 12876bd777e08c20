#!/usr/bin/env bash
# Configures (once) and builds everything, or only the targets that are named,
# into build/ (or $BUILD_DIR; a relative one starts at the source tree).
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD_DIR:-build}
if [ ! -f "$build/build.ninja" ]; then
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  cmake -G Ninja -S . -B "$build" \
    -DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_COMPILER=clang++-22 \
    -DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld \
    -DMLIR_DIR=/usr/lib/llvm-22/lib/cmake/mlir -DLLVM_DIR=/usr/lib/llvm-22/lib/cmake/llvm \
    -DCMAKE_BUILD_TYPE=Release >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
fi
# The steps are worth a look on a terminal, but not in a log.
if [ -t 1 ]; then quiet=(); else quiet=(--quiet); fi
ninja -C "$build" "${quiet[@]}" "$@"
