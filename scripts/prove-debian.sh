#!/usr/bin/env bash
# Proves the README's two commands in a minimal Debian 12: makes a root with
# debootstrap (minbase, nothing else), clones this repository's HEAD into it, and
# runs scripts/quickstart.sh, scripts/test.sh and scripts/quickstart.sh again,
# as root without sudo, with no HOME, no locale and no git identity. Needs root,
# debootstrap and about 8 GB of disk.
#
#   scripts/prove-debian.sh [options] ROOT
#
# ROOT                  the folder to make; an unpacked root may be there, and one that
#                       was used before is brought up to date and used on
#   --toolkit=KIND,...  with what the two commands are run, one after the other in the
#                       same root (the first of them sets it up); by default none
#       none            neither nvcc nor ptxas
#       pip             ptxas from the pip wheel nvidia-cuda-nvcc, in a virtual environment
#       FOLDER          a CUDA toolkit of this machine, seen at /usr/local/cuda
#       debian          Debian's nvidia-cuda-toolkit (non-free; 2 GB to fetch); the last
#   --user              then both commands as a user who is not root, in a folder with
#                       a space in its name and with BUILD_DIR elsewhere
#   --cache=FOLDER      keeps Debian packages and compiled objects there for the next root
#   --mirror=URL        where debootstrap fetches from (its own default otherwise)
#
# The root gets this machine's Debian sources, certificates and resolv.conf, so it
# must itself be a Debian 12 or have the same sources. Prints, at the end, a line
# for each command: seconds, exit code and what it said last.
set -uo pipefail

here=$(cd "$(dirname "$0")/.." && pwd)
usage() { sed -n 's/^# \{0,1\}//; 2,25p' "${BASH_SOURCE[0]}" >&2; exit 2; }
fail() { echo "prove-debian: $*" >&2; exit 1; }

root='' toolkits=(none) user='' cache='' mirror=''
for argument in "$@"; do
  case $argument in
    --toolkit=*) IFS=, read -ra toolkits <<<"${argument#*=}" ;;
    --user) user=1 ;;
    --cache=*) cache=${argument#*=} ;;
    --mirror=*) mirror=${argument#*=} ;;
    -*) usage ;;
    *) [ -z "$root" ] || usage; root=$argument ;;
  esac
done
[ -n "$root" ] || usage
[ "$(id -u)" -eq 0 ] || fail "chroot and mount need root"
for toolkit in "${toolkits[@]}"; do
  case $toolkit in
    none | pip | debian) ;;
    *) [ -x "$toolkit/bin/ptxas" ] || fail "no toolkit '$toolkit': expected none, pip, debian or a folder with bin/ptxas" ;;
  esac
done

# --- the root ---------------------------------------------------------------
mkdir -p "$root" && root=$(cd "$root" && pwd) || exit 1
if [ ! -e "$root/etc/debian_version" ]; then
  command -v debootstrap >/dev/null || fail "needs debootstrap"
  debootstrap --variant=minbase bookworm "$root" ${mirror:+"$mirror"} >"$root.debootstrap.log" 2>&1 ||
    fail "debootstrap failed, see $root.debootstrap.log"
fi
mounts=()
unmount() {
  local i
  for ((i = ${#mounts[@]} - 1; i >= 0; i--)); do umount "${mounts[i]}" || umount -l "${mounts[i]}"; done
  mounts=()
}
trap unmount EXIT
attach() { # DIRECTORY-IN-ROOT MOUNT-ARGUMENTS...
  mkdir -p "$root$1" && mount "${@:2}" "$root$1" || fail "cannot mount $1"
  mounts+=("$root$1")
}
attach /proc -t proc proc
attach /dev/pts -t devpts devpts
if [ -n "$cache" ]; then
  mkdir -p "$cache/apt/partial" "$cache/ccache" || exit 1
  attach /var/cache/apt/archives --bind "$cache/apt"
  attach /root/.cache/ccache --bind "$cache/ccache"
fi
rm -f "$root/etc/apt/sources.list"
for file in /etc/apt/sources.list /etc/apt/sources.list.d/debian.sources; do
  if [ -s "$file" ]; then cp "$file" "$root$file"; fi
done
apt-config dump 2>/dev/null | grep -E '^Acquire::(Check-Valid-Until|Check-Date|http)' >"$root/etc/apt/apt.conf.d/90host"
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
mkdir -p "$root/usr/local/share/ca-certificates"
cp -L /usr/local/share/ca-certificates/*.crt "$root/usr/local/share/ca-certificates/" 2>/dev/null &&
  printf '[global]\ncert = /etc/ssl/certs/ca-certificates.crt\n' >"$root/etc/pip.conf"
if [ -x "$root/usr/sbin/update-ca-certificates" ]; then chroot "$root" update-ca-certificates >/dev/null 2>&1; fi
# debootstrap leaves out what an installed machine or a container has.
printf '127.0.0.1 localhost\n::1 localhost\n' >"$root/etc/hosts"
if [ -e "$root/root/tessera" ]; then
  git -C "$root/root/tessera" pull -q --ff-only "$here" HEAD || fail "git pull failed"
else
  git clone -q "$here" "$root/root/tessera" || fail "git clone failed"
fi

# --- what runs in it --------------------------------------------------------
path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
variables=("PATH=$path")
versions=()
inside() { chroot "$root" env -i "${variables[@]}" "$@"; }
results=() bad=0
prove() { # TITLE COMMAND...
  local title=$1 started=$SECONDS code last
  shift
  echo "== $title"
  inside "$@" </dev/null 2>&1 | tee "$root.last"
  code=${PIPESTATUS[0]}
  last=$(grep -vE '^\s*$' "$root.last" | tail -n 1)
  rm -f "$root.last"
  [ "$code" -eq 0 ] || bad=1
  results+=("$(printf '%-44s %5d s  exit %d  %s' "$title" $((SECONDS - started)) "$code" "$last")")
}

# `tessera compile --emit=cubin` succeeds exactly where a ptxas is.
check_cubins() { # TREE
  local said code
  said=$(inside bash -c 'cd "$1" && build/bin/tessera compile test/Data/models/llama --seq 16 --chip sm_80,sm_90 \
    --emit=cubin -o /tmp/kernels.cubin && head -c 4 /tmp/kernels.sm_80.cubin /tmp/kernels.sm_90.cubin | grep -c ELF' \
    - "$1" 2>&1)
  code=$?
  if [ "$toolkit" = none ]; then
    [ $code -ne 0 ] && [[ $said == *"no ptxas found"* ]] || { code=1; bad=1; }
    results+=("no cubins without a toolkit, and it says so: $([ $code -eq 1 ] && echo "$said" | tail -n 1)")
  else
    [ $code -eq 0 ] && [ "$(tail -n 1 <<<"$said")" = 2 ] || { code=1; bad=1; }
    results+=("cubins for sm_80 and sm_90: $([ $code -eq 0 ] && echo made || echo "FAILED: $said")")
  fi
}

enter_toolkit() {
  case $toolkit in
    none)
      inside bash -c 'type nvcc || type ptxas' >/dev/null 2>&1 && fail "the root has a CUDA toolkit" ;;
    pip)
      inside bash -ec 'apt-get update; DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends python3-venv ca-certificates
        python3 -m venv /opt/cuda; /opt/cuda/bin/pip install nvidia-cuda-nvcc' >"$root.toolkit.log" 2>&1 ||
        fail "the wheel was not installed, see $root.toolkit.log"
      variables=("PATH=/opt/cuda/bin:$path" VIRTUAL_ENV=/opt/cuda)
      versions+=("$(inside bash -c '/opt/cuda/bin/pip list 2>/dev/null | grep nvidia-cuda-nvcc')") ;;
    debian)
      sed -i -E 's/^(Components:.*| *deb .*)\bmain\b/\1main contrib non-free/' "$root"/etc/apt/sources.list* \
        "$root"/etc/apt/sources.list.d/* 2>/dev/null
      inside bash -ec 'apt-get update; DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends nvidia-cuda-toolkit' \
        >"$root.toolkit.log" 2>&1 || fail "nvidia-cuda-toolkit was not installed, see $root.toolkit.log"
      versions+=("$(inside dpkg-query -W nvidia-cuda-toolkit)") ;;
    *)
      attach /usr/local/cuda --bind "$toolkit"
      versions+=("$(inside bash -c '/usr/local/cuda/bin/ptxas --version | grep release')") ;;
  esac
}
leave_toolkit() {
  variables=("PATH=$path")
  if mountpoint -q "$root/usr/local/cuda"; then
    umount "$root/usr/local/cuda" && unset 'mounts[-1]' && rmdir "$root/usr/local/cuda"
  fi
}

first=1
for toolkit in "${toolkits[@]}"; do
  enter_toolkit
  prove "quickstart.sh, toolkit $toolkit" bash -c 'cd /root/tessera && scripts/quickstart.sh'
  prove "test.sh, toolkit $toolkit" bash -c 'cd /root/tessera && scripts/test.sh'
  [ -z "$first" ] || prove "quickstart.sh again" bash -c 'cd /root/tessera && scripts/quickstart.sh'
  first=''
  check_cubins /root/tessera
  leave_toolkit
done

if [ -n "$user" ]; then
  # A user needs what a booted machine has there; root made do with the plain folder.
  attach /dev/shm -t tmpfs tmpfs
  inside useradd -m builder && inside git clone -q --no-hardlinks /root/tessera "/home/builder/a folder" &&
    inside chown -R builder: /home/builder || fail "no user could be made"
  variables+=(HOME=/home/builder "BUILD_DIR=/home/builder/build of it")
  as_user=(setpriv --reuid=builder --regid=builder --init-groups bash -c)
  prove "quickstart.sh as a user, odd folders" "${as_user[@]}" 'cd && "a folder/scripts/quickstart.sh"'
  prove "test.sh as a user, odd folders" "${as_user[@]}" 'cd && "a folder/scripts/test.sh"'
fi

# --- the result -------------------------------------------------------------
echo
echo "Debian $(cat "$root/etc/debian_version"), commit $(git -C "$here" rev-parse --short HEAD), $(date -u +%F), $(nproc) cores"
inside dpkg-query -W -f='${Package} ${Version}; ' clang-22 libmlir-22-dev cmake ninja-build python3
echo
printf '%s\n' ${versions[@]+"${versions[@]}"} "${results[@]}"
exit $bad
