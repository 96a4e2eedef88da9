//===- tcc-opt.cpp - Runs tcc's passes on MLIR ----------------------------===//

#include "../RemarksFilter.h"
#include "tcc/InitAll.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

using namespace mlir;

int main(int argc, char **argv) {
  DialectRegistry registry;
  tcc::registerAllDialects(registry);
  tcc::registerAllPasses();
  auto [input, output] = registerAndParseCLIOptions(
      argc, argv, "tcc: tile programs to tensor cores\n", registry);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  for (auto [option, filter] : {std::pair("remarks-filter", config.getRemarksAllFilter()),
                                {"remarks-filter-passed", config.getRemarksPassedFilter()},
                                {"remarks-filter-missed", config.getRemarksMissedFilter()},
                                {"remarks-filter-failed", config.getRemarksFailedFilter()},
                                {"remarks-filter-analyse", config.getRemarksAnalyseFilter()}})
    if (failed(tcc::checkRemarksFilter(option, filter)))
      return EXIT_FAILURE;
  return asMainReturnCode(MlirOptMain(argc, argv, input, output, registry));
}
