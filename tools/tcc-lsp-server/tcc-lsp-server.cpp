//===- tcc-lsp-server.cpp - Language server for tcc's IR ------------------===//

#include "tcc/InitAll.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::tcc::registerAllDialects(registry);
  return failed(mlir::MlirLspServerMain(argc, argv, registry));
}
