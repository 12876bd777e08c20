#!/usr/bin/env bash
# Builds Tessera and runs its main job: compiles a small Llama-architecture model
# for dp=2,tp=2, runs it on four virtual GPUs and shows its loss beside the one
# that PyTorch's transformers computed.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD_DIR:-build}
model=test/Data/models/llama-gqa

bash scripts/setup.sh
echo "building (about ten minutes on two cores the first time) ..."
bash scripts/build.sh -DTESSERA_ENABLE_TESTS=OFF
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The tokens that transformers saw, one row to a line, and its loss.
read -r batch sequence reference < <(python3 scripts/read_reference.py "$model" "$work/tokens.txt")
set -x
"$build/bin/tessera" compile "$model" --mesh dp=2,tp=2 --dtype f32 --seq "$sequence" --batch "$batch" -o "$work/model"
"$build/bin/tessera" run -n 4 "$work/model" --device=virtual --tokens "$work/tokens.txt" --json >"$work/report.json"
{ set +x; } 2>/dev/null
python3 - "$work/report.json" "$reference" <<'PY'
import json, sys
got, want = json.load(open(sys.argv[1]))["loss"], float(sys.argv[2])
print(f"\nloss on 4 virtual GPUs  {got:.6f}\nloss by transformers    {want:.6f}\ndifference              {abs(got - want):.1e}")
sys.exit(0 if abs(got - want) < 1e-4 else "the losses differ")
PY
