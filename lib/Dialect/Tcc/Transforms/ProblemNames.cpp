//===- ProblemNames.cpp - Names and sizes of a problem's arguments --------===//

#include "Problem.h"
#include "tcc/Dialect/Tcc/IR/TccDialect.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::tcc;

static constexpr std::array<StringLiteral, 3> defaultAxisNames = {"M", "N", "K"};

/// Symbols of the PTX header's expressions, without the dots that tcc itself adds.
static bool isIdentifier(StringRef name) {
  auto isLetter = [](char c) { return llvm::isAlpha(c) || c == '_'; };
  return !name.empty() && isLetter(name.front()) &&
         llvm::all_of(name, [&](char c) { return isLetter(c) || llvm::isDigit(c); });
}

/// What the header's expressions call the device's multiprocessors (docs/Metadata.md).
static constexpr StringLiteral reservedName = "sm_count";

static Location argumentLoc(func::FuncOp func, unsigned argument) {
  return func.getArgument(argument).getLoc();
}

LogicalResult Problem::nameArguments(func::FuncOp func) {
  SmallVector<bool> live = liveNodes();
  llvm::StringSet<> taken;
  for (BlockArgument argument : func.getArguments()) {
    unsigned number = argument.getArgNumber();
    std::string name = "arg" + std::to_string(number);
    if (auto attr = func.getArgAttrOfType<StringAttr>(number, TccDialect::kNameAttr))
      name = attr.str();
    else if (number == lhs.argument)
      name = "A";
    else if (number == rhs.argument)
      name = "B";
    else if (number == outputs.front().argument)
      name = "C";
    if (!isIdentifier(name))
      return emitError(argument.getLoc())
             << "'" << name << "' can't be a name; accepted are letters, digits and _, not "
             << "beginning with a digit";
    if (!taken.insert(name).second)
      return emitError(argument.getLoc())
             << "two arguments are called '" << name << "'; give each its own tcc.name";
    argumentNames.push_back(name);

    bool isRead = number == lhs.argument || number == rhs.argument;
    for (auto [node, isLive] : llvm::zip(nodes, live))
      isRead |= isLive && node.kind == ProblemNode::Kind::Input && node.argument == number;
    StringRef direction = !isOutput(number) ? "in" : isRead ? "inout" : "out";
    auto asked = func.getArgAttrOfType<StringAttr>(number, TccDialect::kDirectionAttr);
    if (asked && asked != "inout" && asked != direction)
      return emitError(argument.getLoc())
             << "argument '" << name << "' has tcc.direction = \"" << asked.getValue()
             << "\", but by what the function does with it, it is \"" << direction << "\"";
    directions.push_back(direction);
  }
  return success();
}

LogicalResult Problem::assignAxis(func::FuncOp func, unsigned argument, unsigned dim, Axis axis) {
  std::optional<Axis> &assigned = dimAxes[argument][dim];
  if (assigned && *assigned != axis)
    return emitError(argumentLoc(func, argument))
           << "dimension " << dim << " of argument '" << argumentNames[argument]
           << "' is indexed by " << defaultAxisNames[unsigned(*assigned)] << " in one place and by "
           << defaultAxisNames[unsigned(axis)] << " in another; pass the data as two arguments";
  assigned = axis;
  auto dims = func.getArgAttrOfType<ArrayAttr>(argument, TccDialect::kDimsAttr);
  if (!dims)
    return success();
  StringRef name = cast<StringAttr>(dims[dim]).getValue();
  std::string &axisName = axisNames[unsigned(axis)];
  if (!axisName.empty() && axisName != name)
    return emitError(argumentLoc(func, argument))
           << "dimension " << dim << " of argument '" << argumentNames[argument] << "' is called '"
           << name << "', but it must be as long as '" << axisName
           << "' of another argument; give both one name in tcc.dims";
  axisName = name.str();
  return success();
}

LogicalResult Problem::nameDimensions(func::FuncOp func) {
  for (BlockArgument argument : func.getArguments()) {
    unsigned rank = cast<MemRefType>(argument.getType()).getRank();
    auto dims = func.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), TccDialect::kDimsAttr);
    if (dims && dims.size() != rank)
      return emitError(argument.getLoc())
             << "tcc.dims has " << dims.size() << " names for a matrix of rank " << rank;
    dimAxes.emplace_back(rank);
    dimNames.emplace_back(rank);
  }
  auto assign = [&](unsigned argument, unsigned dim, Axis axis) {
    return assignAxis(func, argument, dim, axis);
  };
  if (failed(assign(lhs.argument, lhs.transposed, Axis::M)) ||
      failed(assign(lhs.argument, !lhs.transposed, Axis::K)) ||
      failed(assign(rhs.argument, rhs.transposed, Axis::K)) ||
      failed(assign(rhs.argument, !rhs.transposed, Axis::N)))
    return failure();
  for (const Output &output : outputs)
    if (failed(assign(output.argument, 0, Axis::M)) || failed(assign(output.argument, 1, Axis::N)))
      return failure();
  for (auto [node, isLive] : llvm::zip(nodes, liveNodes()))
    if (isLive && node.kind == ProblemNode::Kind::Input)
      for (auto [dim, axis] : llvm::enumerate(node.axes))
        if (failed(assign(node.argument, dim, Axis(axis))))
          return failure();

  for (auto [name, defaultName] : llvm::zip(axisNames, defaultAxisNames))
    if (name.empty())
      name = defaultName;
  llvm::StringSet<> taken;
  for (unsigned axis = 0; axis < 3; ++axis) {
    if (axisNames[axis] == reservedName)
      return emitError(func.getLoc(), "a dimension can't be called '")
             << reservedName << "', which is the number of the device's multiprocessors";
    if (!isIdentifier(axisNames[axis]) || !taken.insert(axisNames[axis]).second)
      return emitError(func.getLoc(), "the dimensions of the matmul are called '")
             << axisNames[0] << "', '" << axisNames[1] << "' and '" << axisNames[2]
             << "'; expected three different names of letters, digits and _";
  }
  for (BlockArgument argument : func.getArguments()) {
    unsigned number = argument.getArgNumber();
    auto dims = func.getArgAttrOfType<ArrayAttr>(number, TccDialect::kDimsAttr);
    for (auto [dim, axis] : llvm::enumerate(dimAxes[number])) {
      std::string &name = dimNames[number][dim];
      if (axis)
        name = axisNames[unsigned(*axis)];
      else if (dims)
        name = cast<StringAttr>(dims[dim]).str();
      else
        name = argumentNames[number] + "_d" + std::to_string(dim);
    }
  }
  return success();
}

LogicalResult Problem::collectSizes(func::FuncOp func) {
  sizes.fill(ShapedType::kDynamic);
  for (BlockArgument argument : func.getArguments()) {
    auto type = cast<MemRefType>(argument.getType());
    for (auto [dim, axis] : llvm::enumerate(dimAxes[argument.getArgNumber()])) {
      if (!axis || type.isDynamicDim(dim))
        continue;
      int64_t &size = sizes[unsigned(*axis)];
      if (ShapedType::isDynamic(size))
        size = type.getDimSize(dim);
      else if (size != type.getDimSize(dim))
        return emitError(argument.getLoc())
               << "dimension " << dim << " of argument '" << argumentNames[argument.getArgNumber()]
               << "' is " << type.getDimSize(dim) << " long, but " << axisNames[unsigned(*axis)]
               << " is " << size << " in another argument";
    }
  }
  return success();
}
