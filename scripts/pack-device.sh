#!/usr/bin/env bash
# pack-device.sh [FOLDER]: builds static tools and puts them, stripped, into FOLDER (build-static/device by default), to
# carry to a machine that has a GPU but neither LLVM nor MLIR. They need libc, libstdc++, zlib and zstd.
source "$(dirname "$0")/common.sh"

folder=${1:-build-static/device}
install_packages
build_preset static tcc-translate tcc-opt tcc-run tcc-ptx-vectors

mkdir -p "$folder"
for tool in tcc-translate tcc-opt tcc-run tcc-ptx-vectors; do
  "$(llvm_tool llvm-strip)" "build-static/bin/$tool" -o "$folder/$tool"
done
du -ch "$folder"/tcc-*
