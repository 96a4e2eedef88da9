# Shared by the scripts beside it: installs what the build needs and builds. Sourced, not run.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

packages=(
  clang-22 cmake ninja-build ccache python3
  libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools lld-22
  libzstd-dev zlib1g-dev libgtest-dev
)

missing_packages() {
  local package
  for package in "${packages[@]}"; do
    [[ $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) == "install ok installed" ]] ||
      echo "$package"
  done
}

install_packages() {
  local missing
  mapfile -t missing < <(missing_packages)
  ((${#missing[@]})) || return 0
  if ((EUID != 0)); then
    echo "error: expected these packages to be installed: ${missing[*]}" >&2
    echo "       run this script as root, or install them with apt-get first" >&2
    exit 1
  fi
  echo "== installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  local install=(apt-get install -y -qq --no-install-recommends "${missing[@]}")
  # The package lists are missing on a fresh machine and stale on an old one; elsewhere skip the update.
  "${install[@]}" >/dev/null 2>&1 || { apt-get update -qq && "${install[@]}" >/dev/null; }
}

# build_preset PRESET [target...]: configures and builds the targets, by default everything.
build_preset() {
  local preset=$1 folder=build
  [[ $preset == default ]] || folder=build-$preset
  shift
  # Objects are shared between clones: paths relative to the clone, and headers known by content.
  export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros
  echo "== configuring $folder/"
  mkdir -p "$folder"
  cmake --preset "$preset" >"$folder/configure.log" || { cat "$folder/configure.log"; exit 1; }
  echo "== building ${*:-everything}"
  ninja -C "$folder" "$@"
}

build() { build_preset default "$@"; }

# cuda_tool NAME: the path of a tool of the CUDA toolkit, or nothing.
cuda_tool() {
  command -v "$1" || PATH=/usr/local/cuda/bin command -v "$1" || true
}

# llvm_tool NAME: the path of a tool of LLVM 22.
llvm_tool() { PATH=/usr/lib/llvm-22/bin:$PATH command -v "$1"; }
