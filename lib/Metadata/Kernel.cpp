//===- Kernel.cpp - Consistency of a kernel's description -----------------===//

#include "tcc/Metadata/Kernel.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;

namespace tcc::metadata {

std::string getStrideSymbol(StringRef argument, unsigned dim) {
  return (argument + ".stride" + Twine(dim)).str();
}

const Argument *Kernel::findArgument(StringRef name) const {
  const auto *found =
      llvm::find_if(arguments, [&](const Argument &argument) { return argument.name == name; });
  return found == arguments.end() ? nullptr : found;
}

SmallVector<std::string> Kernel::getSizeSymbols() const {
  SmallVector<std::string> symbols;
  for (const Argument &argument : arguments)
    for (const Expr &size : argument.shape)
      if (size.isSymbol() && !is_contained(symbols, size.getSymbol()))
        symbols.push_back(size.getSymbol().str());
  return symbols;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

static bool isIdentifier(StringRef name) {
  return !name.empty() && !isDigit(name.front()) &&
         all_of(name, [](char c) { return isAlnum(c) || c == '_'; });
}

namespace {

class Verifier {
public:
  explicit Verifier(const Kernel &kernel) : kernel(kernel) {}

  Error verify() {
    if (kernel.name.empty() || kernel.entry.empty())
      return createStringError("expected a name and an entry");
    for (const Argument &argument : kernel.arguments)
      if (Error error = verifyArgument(argument))
        return inField("argument '" + argument.name + "'", std::move(error));
    for (const Argument &argument : kernel.arguments)
      for (const Expr &stride : argument.strides)
        if (Error error = verifySymbols(stride))
          return inField("strides of '" + argument.name + "'", std::move(error));
    if (Error error = verifyLaunch())
      return error;
    for (auto [index, map] : enumerate(kernel.tensorMaps))
      if (Error error = verifyTensorMap(map))
        return inField("tensor map " + Twine(index), std::move(error));
    return kernel.reference ? verifyReference(*kernel.reference) : Error::success();
  }

private:
  static Error inField(const Twine &field, Error error) {
    return createStringError(field + ": " + toString(std::move(error)));
  }

  Error verifyArgument(const Argument &argument) {
    if (!isIdentifier(argument.name))
      return createStringError("the name must be letters, digits and '_'");
    if (symbols.contains(argument.name + ".ptr"))
      return createStringError("the name stands twice");
    symbols.insert(argument.name + ".ptr");
    if (argument.strides.size() != argument.shape.size())
      return createStringError("expected one stride per dimension, found " +
                               Twine(argument.strides.size()) + " for " +
                               Twine(argument.shape.size()) + " dimensions");
    for (auto [dim, size] : enumerate(argument.shape)) {
      if (size.isConstant() ? size.getConstant() < 0 : !size.isSymbol())
        return createStringError("the size '" + size.str() +
                                 "' is neither a symbol nor an integer from 0 up");
      if (size.isSymbol())
        symbols.insert(size.getSymbol());
      symbols.insert(argument.name + ".size" + std::to_string(dim));
      symbols.insert(getStrideSymbol(argument.name, dim));
    }
    return Error::success();
  }

  Error verifySymbols(const Expr &expr) {
    StringSet<> used;
    expr.collectSymbols(used);
    for (const auto &symbol : used)
      if (!symbols.contains(symbol.getKey()))
        return createStringError("'" + expr.str() + "' uses the unknown symbol '" +
                                 symbol.getKey() + "'");
    return Error::success();
  }

  Error verifyLaunch() {
    symbols.insert("sm_count");
    for (const Expr &extent : kernel.grid)
      if (Error error = verifySymbols(extent))
        return inField("grid", std::move(error));
    // No chip has more (CUDA C++ Programming Guide, technical specifications per compute
    // capability); a chip's own limits are for those who know the chip.
    if (Error error = verifyExtents("block", kernel.block, 1024))
      return error;
    if (Error error = verifyExtents("cluster", kernel.cluster, 16))
      return error;
    if (kernel.dynamicSharedBytes < 0 || kernel.dynamicSharedBytes > (1 << 20))
      return createStringError("dynamicSharedBytes is " + Twine(kernel.dynamicSharedBytes) +
                               ", expected 0 to 1 MiB");
    if (Error error = verifySymbols(kernel.workspaceBytes))
      return inField("workspaceBytes", std::move(error));
    for (const Expr &precondition : kernel.preconditions)
      if (Error error = verifySymbols(precondition))
        return inField("preconditions", std::move(error));
    return Error::success();
  }

  static Error verifyExtents(StringRef field, const std::array<int64_t, 3> &extents, int64_t most) {
    int64_t product = 1;
    for (int64_t extent : extents) {
      if (extent < 1 || extent > most)
        return createStringError(field + ": an extent is " + Twine(extent) + ", expected 1 to " +
                                 Twine(most));
      product *= extent;
    }
    if (product > most)
      return createStringError(field + ": the extents' product is " + Twine(product) +
                               ", expected at most " + Twine(most));
    return Error::success();
  }

  Error verifyTensorMap(const TensorMap &map) {
    const Argument *argument = kernel.findArgument(map.argument);
    if (!argument)
      return createStringError("no argument '" + map.argument + "'");
    // PTX ISA, "Tensor-map": 1 to 5 dimensions.
    if (map.dims.empty() || map.dims.size() > 5)
      return createStringError("expected 1 to 5 dims, found " + Twine(map.dims.size()));
    if (map.box.size() != map.dims.size() || map.elementStrides.size() != map.dims.size())
      return createStringError("box and elementStrides must be as long as dims");
    for (auto [index, dim] : enumerate(map.dims))
      if (dim >= argument->shape.size() || is_contained(ArrayRef(map.dims).take_front(index), dim))
        return createStringError("dims must be distinct dimensions of '" + map.argument + "'");
    // The limits of cuTensorMapEncodeTiled.
    for (int64_t extent : map.box)
      if (extent < 1 || extent > 256)
        return createStringError("a box extent is " + Twine(extent) + ", expected 1 to 256");
    for (int64_t stride : map.elementStrides)
      if (stride < 1 || stride > 8)
        return createStringError("an element stride is " + Twine(stride) + ", expected 1 to 8");
    if (!is_contained({0u, 32u, 64u, 128u}, map.swizzle))
      return createStringError("swizzle is " + Twine(map.swizzle) +
                               ", expected 0, 32, 64 or 128 bytes");
    if (!is_contained({0u, 64u, 128u, 256u}, map.l2Promotion))
      return createStringError("l2Promotion is " + Twine(map.l2Promotion) +
                               ", expected 0, 64, 128 or 256 bytes");
    return Error::success();
  }

  Error verifyReference(const Reference &reference) {
    if (Error error = reference.verify())
      return error;
    for (auto [id, node] : enumerate(reference.nodes)) {
      if (node.op != RefOp::Input)
        continue;
      const Argument *argument = kernel.findArgument(node.argument);
      if (!argument)
        return createStringError("reference node " + Twine(id) + ": no argument '" + node.argument +
                                 "'");
      if (argument->shape.size() != node.dims.size())
        return createStringError("reference node " + Twine(id) + ": " + Twine(node.dims.size()) +
                                 " dims for '" + node.argument + "', which has " +
                                 Twine(argument->shape.size()));
      if (argument->type != node.type)
        return createStringError("reference node " + Twine(id) + ": type " + getName(node.type) +
                                 " for '" + node.argument + "', which is of " +
                                 getName(argument->type));
    }
    return verifyOutputs(reference);
  }

  Error verifyOutputs(const Reference &reference) {
    StringSet<> written;
    for (const RefOutput &output : reference.outputs) {
      const Argument *argument = kernel.findArgument(output.argument);
      if (!argument || argument->direction == Direction::In)
        return createStringError("reference output '" + output.argument +
                                 "' is no out or inout argument");
      const RefNode &node = reference.nodes[output.node];
      if (argument->shape.size() != node.dims.size() || argument->type != node.type)
        return createStringError("reference output '" + output.argument + "' has " +
                                 Twine(argument->shape.size()) + " dimensions of " +
                                 getName(argument->type) + ", its node has " +
                                 Twine(node.dims.size()) + " of " + getName(node.type));
      if (!written.insert(output.argument).second)
        return createStringError("reference output '" + output.argument + "' stands twice");
    }
    return Error::success();
  }

  const Kernel &kernel;
  StringSet<> symbols; // all that expressions may use
};

} // namespace

Error Kernel::verify() const {
  if (Error error = Verifier(*this).verify())
    return createStringError("kernel '" + entry + "': " + toString(std::move(error)));
  return Error::success();
}

} // namespace tcc::metadata
