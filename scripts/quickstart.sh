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
sequence=$(python3 -c "import json; print(json.load(open('$model/reference.json'))['sequence'])")
batch=$(python3 -c "import json; print(json.load(open('$model/reference.json'))['batch'])")

set -x
"$build/bin/tessera" compile "$model" --mesh dp=2,tp=2 --seq "$sequence" --batch "$batch" -o "$work/model.exe"
"$build/bin/tessera" run -n 4 "$work/model.exe" --device=virtual --tokens "$model/tokens.txt" --json >"$work/report.json"
{ set +x; } 2>/dev/null
python3 - "$work/report.json" "$model/reference.json" <<'PY'
import json, sys
got = json.load(open(sys.argv[1]))["loss"]
want = json.load(open(sys.argv[2]))["loss"]
print(f"\nloss on 4 virtual GPUs  {got:.6f}\nloss by transformers    {want:.6f}\ndifference              {abs(got - want):.1e}")
sys.exit(0 if abs(got - want) < 1e-4 else 1)
PY
