#!/usr/bin/env bash
# Checks Tessera on a machine with a GPU, with programs that were built before.
#
#   scripts/gpu-check.sh --build DIR [--models "llama gpt2"] [--kernels FILE]
#       makes a bundle; needs the build tree and no GPU. --models: only these
#       of test/Data/models. --kernels: a gpu-check program that exists already
#       (otherwise gpu-check-full is built, with all kernels for sm_80 and sm_90).
#   scripts/gpu-check.sh --run DIR [--device=cuda|virtual] [--filter TEXT]
#   DIR/run.sh [--device=cuda|virtual] [--filter TEXT]
#       runs it: every kernel against plain loops, the losses of the small
#       models against transformers', and times. Needs a driver, and NCCL for the
#       programs of more than one rank; those are left out where there are fewer
#       devices. --filter: only kernels whose name contains TEXT.
set -uo pipefail

fail() { echo "error: $*" >&2; exit 1; }
usage() { sed -n 's/^# \{0,1\}//; 2,13p' "$here/$(basename "$0")" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)

# What is compiled: model, mesh, type, and how far the losses may be off (the
# largest difference of one token, or the relative one of the mean).
programs() {
  local model
  for model in "$root"/test/Data/models/*/; do
    echo "$(basename "$model") dp=1,tp=1 f32 --tolerance=1e-4"
  done
  echo "llama dp=1,tp=1 bf16 --mean=5e-3"
  echo "llama-gqa dp=1,tp=1 bf16 --mean=5e-3"
  echo "gpt2 dp=1,tp=1 bf16 --mean=5e-3"
  echo "llama tp=2 f32 --tolerance=1e-4"
  echo "gpt2 dp=2 f32 --tolerance=1e-4"
  echo "llama-gqa dp=2,tp=2 f32 --tolerance=1e-4"
}

build_bundle() {
  root=$(dirname "$here")
  local build=${BUILD_DIR:-$root/build} models=" $1 " kernels=$2 model
  for model in $1; do
    [ -d "$root/test/Data/models/$model" ] || fail "no model '$model' in test/Data/models"
  done
  if [ -z "$kernels" ]; then
    bash "$here/setup.sh" || exit 1
    [ -f "$build/build.ninja" ] || bash "$here/build.sh" || exit 1
    ninja -C "$build" --quiet tessera tessera_rt gpu-check-full || exit 1
    kernels=$build/bin/gpu-check-full
  fi
  [ -x "$kernels" ] || fail "no program '$kernels'"
  mkdir -p "$dir" || exit 1
  dir=$(cd "$dir" && pwd)
  mkdir -p "$dir/programs" "$dir/models" || exit 1
  cp "$kernels" "$dir/gpu-check" && cp "$here/gpu-check.sh" "$dir/run.sh" || exit 1
  : >"$dir/programs.txt"
  local mesh type tolerance name batch sequence loss ranks size made=0
  while read -r model mesh type tolerance; do
    [[ "$models" == "  " || "$models" == *" $model "* ]] || continue
    mkdir -p "$dir/models/$model" || exit 1
    cp "$root/test/Data/models/$model"/{model,reference}.safetensors "$dir/models/$model/" || exit 1
    read -r batch sequence loss < <(python3 "$here/read_reference.py" "$root/test/Data/models/$model" "$dir/models/$model/tokens.txt")
    name=$model.$type.$mesh
    echo "compiling $name"
    "$build/bin/tessera" compile "$root/test/Data/models/$model" --mesh "$mesh" --dtype "$type" \
      --seq "$sequence" --batch "$batch" -o "$dir/programs/$name" || fail "$name was not compiled"
    ranks=1
    for size in ${mesh//[^0-9]/ }; do ranks=$((ranks * size)); done
    echo "$name $model $ranks $tolerance" >>"$dir/programs.txt"
    made=$((made + 1))
  done < <(programs)
  echo "$made programs and the kernels are in $dir; run $dir/run.sh where the GPU is"
}

run_bundle() {
  local check=$dir/gpu-check devices=1000000 passed=0 failed=0 skipped=0
  [ -x "$check" ] && [ -f "$dir/programs.txt" ] || fail "'$dir' is no bundle of gpu-check.sh --build"
  if [ "$device" = cuda ]; then
    devices=$("$check" devices) || exit 1
  fi
  echo "== kernels against plain loops"
  if "$check" kernels --device="$device" --filter="$filter"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi

  echo "== losses against transformers"
  local name model ranks tolerance start
  work=$(mktemp -d) || exit 1
  trap 'rm -rf "$work"' EXIT
  while read -r name model ranks tolerance; do
    if [ "$ranks" -gt "$devices" ]; then
      echo "$name: skipped, it needs $ranks devices and there are $devices"
      skipped=$((skipped + 1))
      continue
    fi
    start=("$check" run -n "$ranks")
    [ "$ranks" -eq 1 ] && start=()
    if "${start[@]}" "$dir/programs/$name" --device="$device" --weights "$dir/models/$model/model.safetensors" \
        --tokens "$dir/models/$model/tokens.txt" --output "$work/out.safetensors" --repeat 5 --time >"$work/report" &&
        "$check" losses "$work/out.safetensors" "$dir/models/$model/reference.safetensors" "$tolerance" >"$work/losses"; then
      echo "$name: $(cat "$work/losses"), $(grep -i 'ms\b' "$work/report" | head -1)"
      passed=$((passed + 1))
    else
      echo "$name: FAILED"
      cat "$work/report" "$work/losses" 2>/dev/null
      failed=$((failed + 1))
    fi
    rm -f "$work"/*
  done <"$dir/programs.txt"
  echo "$passed checks passed, $failed failed, $skipped skipped"
  [ $failed -eq 0 ]
}

mode='' dir='' models='' kernels='' device=cuda filter=''
if [ "$(basename "$0")" = run.sh ]; then mode=run dir=$here; fi
while [ $# -gt 0 ]; do
  case $1 in
    --build|--run) [ $# -ge 2 ] || usage; mode=${1#--} dir=$2; shift ;;
    --models) [ $# -ge 2 ] || usage; models=$2; shift ;;
    --kernels) [ $# -ge 2 ] || usage; kernels=$2; shift ;;
    --device=cuda|--device=virtual) device=${1#*=} ;;
    --filter) [ $# -ge 2 ] || usage; filter=$2; shift ;;
    *) echo "error: unknown argument '$1'" >&2; usage ;;
  esac
  shift
done
case $mode in
  build) build_bundle "$models" "$kernels" ;;
  run) [ -d "$dir" ] || fail "no folder '$dir'"; dir=$(cd "$dir" && pwd); run_bundle ;;
  *) usage ;;
esac
