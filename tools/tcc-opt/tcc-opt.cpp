//===- tcc-opt.cpp - Runs tcc's passes on MLIR ----------------------------===//

#include "tcc/InitAll.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::tcc::registerAllDialects(registry);
  mlir::tcc::registerAllPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "tcc: tile programs to tensor cores\n", registry));
}
