#!/usr/bin/env bash
# Installs what the build needs and is missing: Debian packages only. Run by
# quickstart.sh and test.sh; safe to run again (does nothing when all is there),
# also after one that was interrupted. Needs root (or sudo) only if something is
# missing.
set -euo pipefail

packages=(
  clang-22 lld-22 llvm-22-dev llvm-22-tools libmlir-22-dev mlir-22-tools
  cmake ninja-build ccache libgtest-dev nlohmann-json3-dev
  libzstd-dev zlib1g-dev python3 python3-venv git ca-certificates
)
missing=()
for package in "${packages[@]}"; do
  if [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)" != installed ]; then
    missing+=("$package")
  fi
done
[ ${#missing[@]} -gt 0 ] || exit 0

fail() { echo "setup: $*" >&2; exit 1; }
command -v apt-get >/dev/null || fail "no apt-get here (Debian 12 is what is supported); install by hand: ${missing[*]}"
sudo=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || fail "need root to install: ${missing[*]}"
  sudo=(sudo)
fi
echo "installing: ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Quiet unless it fails; waits for another apt, as a fresh machine runs one.
quietly() {
  ${sudo[@]+"${sudo[@]}"} env DEBIAN_FRONTEND=noninteractive "$@" </dev/null >"$log" 2>&1 || { cat "$log" >&2; return 1; }
}
quietly dpkg --configure -a || fail "dpkg cannot finish what was interrupted"
quietly apt-get -o DPkg::Lock::Timeout=300 update || fail "apt-get update failed"
for package in "${missing[@]}"; do
  policy=$(apt-cache policy "$package")
  [[ "$policy" =~ Candidate:\ [^\(] ]] ||
    fail "no Debian package '$package' in the apt sources of this machine; clang-22 and LLVM 22 come from Debian 12's security updates (bookworm-security, main)"
done
quietly apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "${missing[@]}" || fail "apt-get install failed"
