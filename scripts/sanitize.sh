#!/usr/bin/env bash
# Builds our own code with AddressSanitizer and UndefinedBehaviorSanitizer into
# build-sanitize/ (or $BUILD_DIR) and runs what the planner, the importers and
# the runtime's host side are tested with: unit tests, then lit tests. Takes
# about half an hour on two idle cores, so scripts/test.sh does not do it.
# Programs that such a tree's compiler makes do not link: the runtime in them
# would need the sanitizers too.
set -uo pipefail
cd "$(dirname "$0")/.."
build=${BUILD_DIR:-build-sanitize}
unit=(AccountingTests CostModelTests ExportTests ForecastTests HardwareTests ImportTests
  PageTests RuntimeCheckpointTests RuntimeCollectivesTests RuntimeProgramTests ScalingTests
  SearchTests SupportTests ValidateTests)
filter='Planning/|Import/|Lint/|Regression/(planner-input|config-limits)'

if [ ! -f "$build/build.ninja" ]; then
  cmake -G Ninja -S . -B "$build" \
    -DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_COMPILER=clang++-22 \
    -DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld \
    -DMLIR_DIR=/usr/lib/llvm-22/lib/cmake/mlir -DLLVM_DIR=/usr/lib/llvm-22/lib/cmake/llvm \
    "-DTESSERA_SANITIZE=address;undefined" || exit 1
fi
ninja -C "$build" "${unit[@]}" tessera tessera-opt || exit 1

# The packaged LLVM is not instrumented: its containers' annotations and the
# poison of its allocators come from one side only. A report aborts, so that
# `not` in a test does not take it for the failure that it expects.
export ASAN_OPTIONS=detect_container_overflow=0:allow_user_poisoning=0:detect_stack_use_after_return=1:abort_on_error=1
export UBSAN_OPTIONS=print_stacktrace=1:abort_on_error=1
export ASAN_SYMBOLIZER_PATH=/usr/lib/llvm-22/bin/llvm-symbolizer UBSAN_SYMBOLIZER_PATH=/usr/lib/llvm-22/bin/llvm-symbolizer
failed=0
for test in "${unit[@]}"; do
  "$build/test/Unit/$test" --gtest_brief=1 || { echo "$test failed" >&2; failed=1; }
done
/usr/lib/llvm-22/bin/lit -sv "$build/test" --filter "$filter" || failed=1
exit $failed
