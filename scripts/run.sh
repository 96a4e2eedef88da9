#!/usr/bin/env bash
# Builds tcc, compiles examples/gemm.mlir for every chip, assembles the PTX where ptxas is, and runs and checks each
# kernel: on the GPU where there is one, else on tcc's emulator. Results: build/run/.
source "$(dirname "$0")/common.sh"

install_packages
build tcc-translate tcc-run

chips=(sm_70 sm_75 sm_80 sm_86 sm_87 sm_89 sm_90 sm_90a sm_100 sm_100a sm_103 sm_103a sm_120 sm_120a sm_121 sm_121a)
out=build/run
mkdir -p "$out"
ptxas=$(cuda_tool ptxas)
gpu=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -d .) || true
[[ -n $gpu ]] || echo "== no GPU here: kernels run on the emulator, at a small size"
[[ -n $ptxas ]] || echo "== no ptxas here: the PTX is not assembled"

# A GPU's driver compiles the PTX of older chips too, but that of an "a" target for the very chip only.
runs_on_gpu() {
  [[ -n $gpu ]] || return 1
  local number=${1//[!0-9]/}
  if [[ $1 == *a ]]; then ((number == gpu)); else ((number <= gpu)); fi
}

failed=()
for chip in "${chips[@]}"; do
  echo
  echo "== $chip"
  ptx=$out/gemm.$chip.ptx
  build/bin/tcc-translate --tcc-to-ptx --chip="$chip" examples/gemm.mlir -o "$ptx" || { failed+=("$chip"); continue; }
  echo "compiled to $ptx"
  if [[ -n $ptxas ]]; then
    # ptxas 13 has no sm_70 any more; it assembles sm_70 PTX for what came next.
    "$ptxas" -arch="${chip/sm_70/sm_75}" "$ptx" -o "${ptx%.ptx}.cubin" || { failed+=("$chip"); continue; }
    echo "assembled to ${ptx%.ptx}.cubin"
  fi
  if runs_on_gpu "$chip"; then
    build/bin/tcc-run "$ptx" --device=cuda --size M=4096,N=4096,K=4096 --check --time || failed+=("$chip")
  else
    # The report goes on for every instruction; its head is enough here.
    report=${ptx%.ptx}.report
    build/bin/tcc-run "$ptx" --device=emulator --size M=200,N=136,K=72 --check --report=text >"$report" || failed+=("$chip")
    sed '/global bytes/q' "$report"
    echo "the report by instruction is in $report"
  fi
done

echo
if ((${#failed[@]})); then
  echo "failed: ${failed[*]}"
  exit 1
fi
echo "all ${#chips[@]} chips passed"
