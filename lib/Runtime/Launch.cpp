//===- Launch.cpp - From a bound problem to launch parameters -------------===//

#include "tcc/Runtime/Launch.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace tcc::metadata;

namespace tcc::runtime {

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

static TensorMapDescriptor describeTensorMap(const Kernel &kernel, const TensorMap &map,
                                             const Problem &problem, const SymbolTable &symbols) {
  size_t position = kernel.findArgument(map.argument) - kernel.arguments.begin();
  const TensorLayout &layout = problem.layouts[position];
  TensorMapDescriptor result;
  result.type = map.type;
  result.base = symbols.lookup(map.argument + ".ptr");
  for (auto [index, dim] : enumerate(map.dims)) {
    result.dims.push_back(layout.shape[dim]);
    if (index > 0)
      result.strideBytes.push_back(layout.strides[dim] * getByteSize(layout.type));
  }
  result.box.assign(map.box.begin(), map.box.end());
  result.elementStrides.assign(map.elementStrides.begin(), map.elementStrides.end());
  result.swizzle = map.swizzle;
  result.l2Promotion = map.l2Promotion;
  result.oobFillNaN = map.oobFillNaN;
  return result;
}

/// The rules of cuTensorMapEncodeTiled that depend on the launch; empty where they hold.
static std::string checkTensorMap(const TensorMapDescriptor &map) {
  if (map.base % 16)
    return ("the base address 0x" + Twine::utohexstr(map.base) + " isn't a multiple of 16").str();
  for (auto [index, size] : enumerate(map.dims))
    if (size == 0 || size > (uint64_t(1) << 32))
      return ("dimension " + Twine(index) + " has the size " + Twine(size) + ", expected 1 to 2^32")
          .str();
  for (uint64_t stride : map.strideBytes)
    if (stride % 16 || stride >= (uint64_t(1) << 40))
      return ("the row stride of " + Twine(stride) + " bytes isn't a multiple of 16 below 2^40")
          .str();
  return "";
}

//===----------------------------------------------------------------------===//
// Variants
//===----------------------------------------------------------------------===//

/// `A.stride0 * 2 % 16 == 0 (A.stride0 = 1001)`
static std::string explain(const Expr &precondition, const SymbolTable &symbols) {
  StringSet<> used;
  precondition.collectSymbols(used);
  SmallVector<std::string> values;
  for (const auto &symbol : used) {
    StringRef name = symbol.getKey();
    int64_t value = symbols.lookup(name);
    bool isPointer = name.ends_with(".ptr");
    values.push_back(
        (name + " = " + (isPointer ? "0x" + utohexstr(value) : std::to_string(value))).str());
  }
  sort(values);
  return precondition.str() + (values.empty() ? "" : " (" + join(values, ", ") + ")");
}

/// Why a variant can't be launched; empty where it can.
static Expected<std::string> findObstacle(const Kernel &kernel, const Problem &problem,
                                          const SymbolTable &symbols) {
  for (const Expr &precondition : kernel.preconditions) {
    Expected<int64_t> value = precondition.evaluate(symbols);
    if (!value)
      return createStringError("precondition of '" + kernel.entry +
                               "': " + toString(value.takeError()));
    if (!*value)
      return "needs " + explain(precondition, symbols);
  }
  for (const TensorMap &map : kernel.tensorMaps) {
    std::string obstacle = checkTensorMap(describeTensorMap(kernel, map, problem, symbols));
    if (!obstacle.empty())
      return "tensor map of " + map.argument + ": " + obstacle;
  }
  return "";
}

static std::string labelOf(const Kernel &kernel) {
  return kernel.variant.empty() ? kernel.entry : kernel.variant;
}

Expected<Selection> selectVariant(const Program &program, const Problem &problem,
                                  const SymbolTable &symbols, StringRef label) {
  Selection selection;
  SmallVector<std::string> labels;
  for (const Kernel *kernel : program.variants) {
    labels.push_back(labelOf(*kernel));
    if (!label.empty() && label != labels.back())
      continue;
    Expected<std::string> obstacle = findObstacle(*kernel, problem, symbols);
    if (!obstacle)
      return obstacle.takeError();
    if (obstacle->empty()) {
      selection.kernel = kernel;
      return selection;
    }
    selection.rejected.push_back({labels.back(), *obstacle});
  }
  if (selection.rejected.empty())
    return createStringError("'" + program.name + "' has no variant '" + label + "', it has " +
                             join(labels, ", "));
  std::string message = ("no variant of '" + program.name + "' can be launched here").str();
  for (const Rejection &rejection : selection.rejected)
    message += "\n  " + rejection.variant + ": " + rejection.reason;
  return createStringError(message);
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

static void addArguments(const Kernel &kernel, const Problem &problem, const SymbolTable &symbols,
                         LaunchPlan &plan) {
  for (auto [argument, layout] : zip(kernel.arguments, problem.layouts)) {
    plan.parameters.push_back({uint64_t(symbols.lookup(argument.name + ".ptr")), {}});
    for (auto [expr, size] : zip(argument.shape, layout.shape))
      if (!expr.isConstant())
        plan.parameters.push_back({uint64_t(size), {}});
    for (auto [expr, stride] : zip(argument.strides, layout.strides))
      if (!expr.isConstant())
        plan.parameters.push_back({uint64_t(stride), {}});
  }
}

static Error evaluateGrid(const Kernel &kernel, const SymbolTable &symbols, LaunchPlan &plan) {
  // CUDA C++ Programming Guide, technical specifications per compute capability.
  constexpr int64_t limits[] = {(int64_t(1) << 31) - 1, 65535, 65535};
  for (int i = 0; i < 3; ++i) {
    Expected<int64_t> extent = kernel.grid[i].evaluate(symbols);
    if (!extent)
      return createStringError("grid of '" + kernel.entry + "': " + toString(extent.takeError()));
    if (*extent < 0 || *extent > limits[i])
      return createStringError("'" + kernel.entry + "' needs a grid of " + Twine(*extent) +
                               " blocks along " + Twine("xyz"[i]) + ", the limit is " +
                               Twine(limits[i]));
    if (*extent % kernel.cluster[i])
      return createStringError("'" + kernel.entry + "' needs a grid of " + Twine(*extent) +
                               " blocks along " + Twine("xyz"[i]) + ", which its cluster of " +
                               Twine(kernel.cluster[i]) + " doesn't divide");
    plan.grid[i] = *extent;
    plan.block[i] = kernel.block[i];
    plan.cluster[i] = kernel.cluster[i];
  }
  return Error::success();
}

Expected<LaunchPlan> planLaunch(const Kernel &kernel, const Problem &problem,
                                const SymbolTable &symbols, uint64_t workspace) {
  LaunchPlan plan;
  plan.entry = kernel.entry;
  plan.dynamicSharedBytes = kernel.dynamicSharedBytes;
  plan.dependentLaunch = kernel.dependentLaunch;
  if (Error error = evaluateGrid(kernel, symbols, plan))
    return std::move(error);
  addArguments(kernel, problem, symbols, plan);
  if (kernel.workspaceBytes != Expr(0))
    plan.parameters.push_back({workspace, {}});
  for (const TensorMap &map : kernel.tensorMaps)
    plan.parameters.push_back({0, describeTensorMap(kernel, map, problem, symbols)});
  return plan;
}

} // namespace tcc::runtime
