#!/usr/bin/env bash
# Sets up, builds everything and passes every test: the lit suite, the unit
# tests, and the Python package from a fresh virtual environment. Ends with why
# tests were skipped, if any were, and one line "N passed, N failed".
set -uo pipefail
cd "$(dirname "$0")/.."
build=${BUILD_DIR:-build}

bash scripts/setup.sh || exit 1
started=$SECONDS
bash scripts/build.sh || { echo "the build failed" >&2; exit 1; }
echo "built in $((SECONDS - started)) s"

started=$SECONDS
report=$build/test/lit.xml
rm -f "$report"
/usr/lib/llvm-22/bin/lit -sv --order=smart --xunit-xml-output "$report" "$build/test" "$build/test/Unit"
lit_status=$?
[ -f "$report" ] || { echo "lit wrote no report" >&2; exit 1; }

python_report=$build/test/python.xml
rm -rf "$build/venv" "$python_report"
python_status=0
if [ -f python/pyproject.toml ]; then
  python3 -m venv "$build/venv" &&
    "$build/venv/bin/pip" install -q "./python[test]" &&
    TESSERA_BIN=$(realpath "$build/bin") "$build/venv/bin/python" -m pytest -q python/tests --junitxml "$python_report"
  python_status=$?
fi
echo "tested in $((SECONDS - started)) s"

python3 scripts/test_summary.py "$build" "$report" "$python_report"
summary=$?
[ $lit_status -eq 0 ] && [ $python_status -eq 0 ] && [ $summary -eq 0 ]
