//===- Problem.cpp - A kernel's symbols bound to one launch ---------------===//

#include "tcc/Runtime/Problem.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace tcc::metadata;

namespace tcc::runtime {

static std::string listOrNone(ArrayRef<std::string> names) {
  return names.empty() ? "none" : join(names, ", ");
}

static SmallVector<std::string> getArgumentNames(const Kernel &kernel) {
  return map_to_vector(kernel.arguments, [](const Argument &argument) { return argument.name; });
}

static Error noArgument(const Kernel &kernel, StringRef name) {
  return createStringError("'" + kernel.name + "' has no argument '" + name + "', it has " +
                           listOrNone(getArgumentNames(kernel)));
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

static bool sameArguments(const Kernel &a, const Kernel &b) {
  return equal(a.arguments, b.arguments, [](const Argument &x, const Argument &y) {
    return x.name == y.name && x.type == y.type && x.shape == y.shape && x.strides == y.strides &&
           x.direction == y.direction;
  });
}

Expected<Program> selectProgram(ArrayRef<Kernel> kernels, StringRef name) {
  SmallVector<std::string> names;
  for (const Kernel &kernel : kernels)
    if (!is_contained(names, kernel.name))
      names.push_back(kernel.name);
  if (names.empty())
    return createStringError("the header describes no kernel");
  if (name.empty() && names.size() > 1)
    return createStringError("several kernels, choose one by --kernel: " + join(names, ", "));
  if (!name.empty() && !is_contained(names, name))
    return createStringError("no kernel '" + name + "', there is " + join(names, ", "));
  Program program;
  for (const Kernel &kernel : kernels)
    if (name.empty() || kernel.name == name)
      program.variants.push_back(&kernel);
  program.name = program.getFirst().name;
  for (const Kernel *variant : program.variants)
    if (!sameArguments(*variant, program.getFirst()))
      return createStringError("the variants '" + program.getFirst().entry + "' and '" +
                               variant->entry + "' of '" + program.name +
                               "' differ in their arguments");
  return program;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

Error inferSizes(const Kernel &kernel, StringRef name, ArrayRef<int64_t> shape,
                 StringMap<int64_t> &sizes) {
  const Argument *argument = kernel.findArgument(name);
  if (!argument)
    return noArgument(kernel, name);
  if (shape.size() != argument->shape.size())
    return createStringError("'" + name + "' has " + Twine(argument->shape.size()) +
                             " dimensions, found " + Twine(shape.size()));
  for (auto [expr, size] : zip(argument->shape, shape)) {
    if (!expr.isSymbol())
      continue;
    auto [entry, isNew] = sizes.try_emplace(expr.getSymbol(), size);
    if (!isNew && entry->second != size)
      return createStringError("'" + name + "' has " + expr.getSymbol() + " = " + Twine(size) +
                               ", but " + expr.getSymbol() + " is " + Twine(entry->second));
  }
  return Error::success();
}

/// A name that isn't a symbol may be that of a dimension with a static size.
static std::optional<int64_t> findStaticDim(const Kernel &kernel, StringRef name) {
  if (!kernel.reference)
    return std::nullopt;
  for (const RefNode &node : kernel.reference->nodes) {
    const auto *dim = llvm::find(node.dims, name);
    if (node.op != RefOp::Input || dim == node.dims.end())
      continue;
    const Expr &size = kernel.findArgument(node.argument)->shape[dim - node.dims.begin()];
    if (size.isConstant())
      return size.getConstant();
  }
  return std::nullopt;
}

static Error checkSizes(const Kernel &kernel, const StringMap<int64_t> &sizes) {
  SmallVector<std::string> symbols = kernel.getSizeSymbols();
  for (const auto &entry : sizes) {
    StringRef name = entry.getKey();
    if (!is_contained(symbols, name)) {
      std::optional<int64_t> size = findStaticDim(kernel, name);
      if (size == entry.getValue())
        continue;
      if (size)
        return createStringError("--size " + name + ": " + name + " is static in '" + kernel.name +
                                 "', its size is " + Twine(*size) +
                                 "; compile the program with dynamic sizes to choose it here");
      return createStringError("--size " + name + ": '" + kernel.name +
                               "' has no such size, its dynamic sizes are: " + listOrNone(symbols));
    }
    if (entry.second < 0)
      return createStringError("--size " + name + "=" + Twine(entry.second) +
                               ": expected a size from 0 up");
  }
  SmallVector<std::string> missing;
  for (const std::string &symbol : symbols)
    if (!sizes.contains(symbol))
      missing.push_back(symbol);
  if (!missing.empty())
    return createStringError("'" + kernel.name + "' needs the size of " + join(missing, ", ") +
                             ": give --size " + join(missing, "=…,") + "=…");
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Strides
//===----------------------------------------------------------------------===//

static bool isFreeStride(const Argument &argument, unsigned dim) {
  const Expr &stride = argument.strides[dim];
  return stride.isSymbol() && stride.getSymbol() == getStrideSymbol(argument.name, dim);
}

/// Gives each free stride a value: the dimension of stride 1 is the innermost, the others follow
/// from the last to the first. The first free one is the leading dimension.
static Error bindStrides(const Argument &argument, std::optional<int64_t> leadingDimension,
                         TensorLayout &layout, SymbolTable &symbols) {
  SmallVector<unsigned> order;
  for (unsigned dim = argument.strides.size(); dim-- > 0;)
    order.push_back(dim);
  stable_sort(order, [&](unsigned a, unsigned b) {
    return argument.strides[a] == Expr(1) && argument.strides[b] != Expr(1);
  });
  int64_t next = 1;
  bool padded = false;
  for (unsigned dim : order) {
    int64_t size = std::max<int64_t>(layout.shape[dim], 1);
    if (isFreeStride(argument, dim)) {
      bool isLeading = leadingDimension && !padded && dim != order.front();
      padded |= isLeading;
      layout.strides[dim] = isLeading ? *leadingDimension : next;
      symbols[getStrideSymbol(argument.name, dim)] = layout.strides[dim];
    } else {
      Expected<int64_t> stride = argument.strides[dim].evaluate(symbols);
      if (!stride)
        return stride.takeError();
      layout.strides[dim] = *stride;
      symbols[getStrideSymbol(argument.name, dim)] = *stride;
    }
    if (MulOverflow(layout.strides[dim], size, next))
      return createStringError("the size doesn't fit in 64 bits");
  }
  if (leadingDimension && !padded)
    return createStringError("--ld " + argument.name +
                             ": its strides are fixed by the kernel; a memref of layout "
                             "strided<[?, 1]> would leave them open");
  return Error::success();
}

static Error bindArgument(const Argument &argument, const ProblemOptions &options,
                          TensorLayout &layout, SymbolTable &symbols) {
  layout.type = argument.type;
  layout.strides.resize(argument.shape.size());
  for (auto [dim, expr] : enumerate(argument.shape)) {
    Expected<int64_t> size = expr.evaluate(symbols);
    if (!size)
      return size.takeError();
    layout.shape.push_back(*size);
    symbols[argument.name + ".size" + std::to_string(dim)] = *size;
  }
  std::optional<int64_t> leadingDimension;
  if (auto found = options.leadingDimensions.find(argument.name);
      found != options.leadingDimensions.end())
    leadingDimension = found->second;
  if (Error error = bindStrides(argument, leadingDimension, layout, symbols))
    return error;
  layout.offset = options.offsets.lookup(argument.name);
  return verifyLayout(layout);
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

static void bindDims(const Kernel &kernel, Problem &problem) {
  auto bind = [&](const Dims &dims, StringRef argument) {
    size_t position = kernel.findArgument(argument) - kernel.arguments.begin();
    for (auto [dim, size] : zip(dims, problem.layouts[position].shape))
      problem.dims[dim] = size;
  };
  for (const RefNode &node : kernel.reference->nodes)
    if (node.op == RefOp::Input)
      bind(node.dims, node.argument);
  for (const RefOutput &output : kernel.reference->outputs)
    bind(kernel.reference->nodes[output.node].dims, output.argument);
}

/// What follows from the layouts: whether there is anything to compute, and the lengths of the
/// reference's dimensions.
static void finishProblem(const Kernel &kernel, Problem &problem) {
  problem.empty = all_of(zip(kernel.arguments, problem.layouts), [](auto pair) {
    auto &[argument, layout] = pair;
    return argument.direction == Direction::In || layout.getNumElements() == 0;
  });
  if (kernel.reference)
    bindDims(kernel, problem);
}

Expected<Problem> bindProblem(const Kernel &kernel, const ProblemOptions &options) {
  if (Error error = checkSizes(kernel, options.sizes))
    return std::move(error);
  for (const auto *byArgument : {&options.leadingDimensions, &options.offsets})
    for (const auto &entry : *byArgument)
      if (!kernel.findArgument(entry.getKey()))
        return noArgument(kernel, entry.getKey());
  Problem problem;
  problem.symbols = options.sizes;
  problem.layouts.resize(kernel.arguments.size());
  for (auto [argument, layout] : zip(kernel.arguments, problem.layouts))
    if (Error error = bindArgument(argument, options, layout, problem.symbols))
      return createStringError("argument '" + argument.name + "': " + toString(std::move(error)));
  finishProblem(kernel, problem);
  return problem;
}

/// A given size or stride must be what the kernel's expression gives.
static Error checkGiven(const Twine &what, const Expr &expr, int64_t given,
                        const SymbolTable &symbols) {
  Expected<int64_t> expected = expr.evaluate(symbols);
  if (!expected)
    return expected.takeError();
  if (*expected != given)
    return createStringError(what + " is " + Twine(given) + ", the kernel expects " +
                             (expr.isConstant() ? "" : expr.str() + " = ") + Twine(*expected));
  return Error::success();
}

Expected<Problem> bindLayouts(const Kernel &kernel, ArrayRef<TensorLayout> layouts) {
  if (layouts.size() != kernel.arguments.size())
    return createStringError("'" + kernel.name + "' takes " + Twine(kernel.arguments.size()) +
                             " matrices (" + join(getArgumentNames(kernel), ", ") + "), found " +
                             Twine(layouts.size()));
  Problem problem;
  problem.layouts.assign(layouts.begin(), layouts.end());
  for (auto [argument, layout] : zip(kernel.arguments, problem.layouts)) {
    if (Error error = inferSizes(kernel, argument.name, layout.shape, problem.symbols))
      return std::move(error);
    layout.type = argument.type;
    if (Error error = verifyLayout(layout))
      return createStringError("'" + argument.name + "': " + toString(std::move(error)));
    for (auto [dim, size] : enumerate(layout.shape))
      problem.symbols[argument.name + ".size" + std::to_string(dim)] = size;
    for (auto [dim, stride] : enumerate(layout.strides))
      problem.symbols[getStrideSymbol(argument.name, dim)] = stride;
  }
  for (auto [argument, layout] : zip(kernel.arguments, problem.layouts))
    for (size_t dim = 0; dim < layout.shape.size(); ++dim) {
      std::string where = "' in dimension " + std::to_string(dim);
      if (Error error = checkGiven("size of '" + argument.name + where, argument.shape[dim],
                                   layout.shape[dim], problem.symbols))
        return std::move(error);
      if (Error error = checkGiven("stride of '" + argument.name + where, argument.strides[dim],
                                   layout.strides[dim], problem.symbols))
        return std::move(error);
    }
  finishProblem(kernel, problem);
  return problem;
}

} // namespace tcc::runtime
