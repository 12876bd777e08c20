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
bash scripts/build.sh tessera
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The tokens that transformers saw, one row to a line, and its loss.
read -r batch sequence reference < <(python3 scripts/read_reference.py "$model" "$work/tokens.txt")
set -x
"$build/bin/tessera" compile "$model" --mesh dp=2,tp=2 --dtype f32 --seq "$sequence" --batch "$batch" -o "$work/model"
"$build/bin/tessera" run -n 4 "$work/model" --device=virtual --tokens "$work/tokens.txt" --output "$work/losses.safetensors"
{ set +x; } 2>/dev/null
# The reference leaves a few tokens out; so does the comparison.
read -r loss reference difference < <(python3 scripts/read_reference.py "$model" --compare "$work/losses.safetensors")
printf '\nloss on 4 virtual GPUs  %.6f\nloss by transformers    %.6f\nlargest difference      %.1e (of one token)\n' "$loss" "$reference" "$difference"
python3 -c 'import sys; sys.exit(0 if float(sys.argv[1]) < 1e-4 else "the losses differ")' "$difference"
