#!/usr/bin/env bash
# pack-device.sh [FOLDER]: builds static tools and puts them, stripped, into FOLDER (build-static/device by default), to
# carry to a machine that has a GPU but neither LLVM nor MLIR. They need libc, libstdc++, zlib and zstd.
source "$(dirname "$0")/common.sh"

folder=${1:-build-static/device}
install_packages
tools=(tcc-translate tcc-run tcc-ptx-vectors)
build_preset static "${tools[@]}"

mkdir -p "$folder"
for tool in "${tools[@]}"; do
  "$(llvm_tool llvm-strip)" "build-static/bin/$tool" -o "$folder/$tool"
done
du -ch "$folder"/tcc-*
