//===- MmaInstructions.cpp - mma.sync -------------------------------------===//
//
// PTX ISA "Matrix multiply-accumulate operation using mma instruction".
//
//===----------------------------------------------------------------------===//

#include "FloatDecode.h"
#include "MatrixProduct.h"
#include "TensorCoreModel.h"

#include "llvm/ADT/STLExtras.h"

using namespace tcc::emulator;

namespace {

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

enum class OperandClass : uint8_t { Half, BFloat, TF32, Float8, Double, Int8, Int4, Bit };

/// One shape of one class of operand types.
struct ShapeRow {
  llvm::StringLiteral name;
  unsigned m, n, k;
  OperandClass operands;
  /// The first chip that has it.
  unsigned chip;
};

constexpr ShapeRow shapes[] = {
    {"m16n8k8", 16, 8, 8, OperandClass::Half, 75},
    {"m16n8k16", 16, 8, 16, OperandClass::Half, 80},
    {"m16n8k8", 16, 8, 8, OperandClass::BFloat, 80},
    {"m16n8k16", 16, 8, 16, OperandClass::BFloat, 80},
    {"m16n8k4", 16, 8, 4, OperandClass::TF32, 80},
    {"m16n8k8", 16, 8, 8, OperandClass::TF32, 80},
    {"m16n8k16", 16, 8, 16, OperandClass::Float8, 89},
    {"m16n8k32", 16, 8, 32, OperandClass::Float8, 89},
    {"m8n8k4", 8, 8, 4, OperandClass::Double, 80},
    {"m16n8k4", 16, 8, 4, OperandClass::Double, 90},
    {"m16n8k8", 16, 8, 8, OperandClass::Double, 90},
    {"m16n8k16", 16, 8, 16, OperandClass::Double, 90},
    {"m8n8k16", 8, 8, 16, OperandClass::Int8, 75},
    {"m16n8k16", 16, 8, 16, OperandClass::Int8, 80},
    {"m16n8k32", 16, 8, 32, OperandClass::Int8, 80},
    {"m8n8k32", 8, 8, 32, OperandClass::Int4, 75},
    {"m16n8k32", 16, 8, 32, OperandClass::Int4, 80},
    {"m16n8k64", 16, 8, 64, OperandClass::Int4, 80},
    {"m8n8k128", 8, 8, 128, OperandClass::Bit, 75},
    {"m16n8k128", 16, 8, 128, OperandClass::Bit, 80},
    {"m16n8k256", 16, 8, 256, OperandClass::Bit, 80},
};

OperandClass classOf(MatrixType type) {
  switch (type) {
  case MatrixType::F16:
    return OperandClass::Half;
  case MatrixType::BF16:
    return OperandClass::BFloat;
  case MatrixType::TF32:
    return OperandClass::TF32;
  case MatrixType::E4M3:
  case MatrixType::E5M2:
    return OperandClass::Float8;
  case MatrixType::F64:
    return OperandClass::Double;
  case MatrixType::S8:
  case MatrixType::U8:
    return OperandClass::Int8;
  case MatrixType::S4:
  case MatrixType::U4:
    return OperandClass::Int4;
  case MatrixType::B1:
    return OperandClass::Bit;
  }
  return OperandClass::Half;
}

unsigned elementsPerRegister(OperandClass operands) {
  switch (operands) {
  case OperandClass::Half:
  case OperandClass::BFloat:
    return 2;
  case OperandClass::Float8:
  case OperandClass::Int8:
    return 4;
  case OperandClass::Int4:
    return 8;
  default:
    return 1; // b1 counts in words.
  }
}

/// A shape with its fragments worked out.
struct MmaForm {
  const ShapeRow *shape;
  FragmentMap a, b, c;

  explicit MmaForm(const ShapeRow &row) : shape(&row) {
    unsigned perRegister = elementsPerRegister(row.operands);
    unsigned depth = row.operands == OperandClass::Bit ? row.k / 32 : row.k;
    a = FragmentMap(mmaLayoutA(row.m, depth, perRegister));
    b = FragmentMap(mmaLayoutB(row.n, depth, perRegister));
    c = FragmentMap(mmaLayoutC(row.m, row.n));
  }
};

const MmaForm *findForm(llvm::StringRef shape, OperandClass operands) {
  static const std::vector<MmaForm> forms = [] {
    std::vector<MmaForm> list;
    for (const ShapeRow &row : shapes)
      list.emplace_back(row);
    return list;
  }();
  auto form = llvm::find_if(forms, [&](const MmaForm &candidate) {
    return candidate.shape->name == shape && candidate.shape->operands == operands;
  });
  return form == forms.end() ? nullptr : &*form;
}

std::string shapesOf(OperandClass operands) {
  std::string list;
  for (const ShapeRow &row : shapes)
    if (row.operands == operands)
      list += (list.empty() ? "" : ", ") + row.name.str();
  return list;
}

//===----------------------------------------------------------------------===//
// Handlers. table: MmaForm; aux: Flags.
//===----------------------------------------------------------------------===//

enum Flags : uint32_t { Saturate = 1, Xor = 2, RowA = 4, RowB = 8 };

MatrixProduct productOf(const Instruction &inst, const ShapeRow &shape,
                        const TensorCoreModel &model) {
  MatrixProduct product;
  product.m = shape.m;
  product.n = shape.n;
  product.k = shape.k;
  product.d = inst.types[0];
  product.a = *matrixType(inst.types[1]);
  product.b = *matrixType(inst.types[2]);
  product.c = inst.types[3];
  product.rule =
      blockRule(model, MatrixInstruction::Mma, product.a, product.k, product.d == Type::F16);
  product.float8AsHalf = isFloat8(product.a) && model.runsFloat8AsHalf();
  product.saturate = inst.aux[0] & Saturate;
  product.bitXor = inst.aux[0] & Xor;
  return product;
}

void mma(Warp &warp, const Instruction &inst) {
  const MmaForm &form = *static_cast<const MmaForm *>(inst.table);
  if (!requireChip(warp, inst, form.shape->chip))
    return;
  MatrixProduct product = productOf(inst, *form.shape, tensorCoreModel(warp.chip()));
  multiplyFragments(warp, inst, product, {form.a, form.b, form.c, form.c});
}

/// One of the four products of m8n8k4 on f16.
void multiplyQuad(const Instruction &inst, const TensorCoreModel &model, llvm::ArrayRef<uint32_t> a,
                  llvm::ArrayRef<uint32_t> b, llvm::ArrayRef<uint32_t> c,
                  llvm::MutableArrayRef<uint32_t> d) {
  bool resultF16 = inst.types[0] == Type::F16;
  if (!model.hasM8N8K4)
    return multiplyM8N8K4(resultF16, inst.types[3] == Type::F16, a, b, c, d);
  MatrixProduct product;
  product.m = product.n = 8;
  product.k = 4;
  product.d = inst.types[0];
  product.c = inst.types[3];
  product.rule = blockRule(model, MatrixInstruction::Mma, product.a, product.k, resultF16);
  multiply(product, a, b, c, d);
}

void mmaM8N8K4(Warp &warp, const Instruction &inst) {
  static const FragmentMap byRow(mmaM8N8K4ByRow), byColumn(mmaM8N8K4ByColumn),
      halfC(mmaM8N8K4HalfC), floatC(mmaM8N8K4FloatC);
  bool resultF16 = inst.types[0] == Type::F16, addendF16 = inst.types[3] == Type::F16;
  std::array<uint32_t, 128> a, b;
  std::array<uint32_t, 256> c, d;
  gather(warp, Warp::elements(inst.operands[1]), inst.aux[0] & RowA ? byRow : byColumn, 16, a);
  gather(warp, Warp::elements(inst.operands[2]), inst.aux[0] & RowB ? byColumn : byRow, 16, b);
  gather(warp, Warp::elements(inst.operands[3]), addendF16 ? halfC : floatC, addendF16 ? 16 : 32,
         c);
  const TensorCoreModel &model = tensorCoreModel(warp.chip());
  for (unsigned quad = 0; quad < 4; ++quad)
    multiplyQuad(inst, model, llvm::ArrayRef(a).slice(quad * 32, 32),
                 llvm::ArrayRef(b).slice(quad * 32, 32), llvm::ArrayRef(c).slice(quad * 64, 64),
                 llvm::MutableArrayRef(d).slice(quad * 64, 64));
  scatter(warp, Warp::elements(inst.operands[0]), resultF16 ? halfC : floatC, resultF16 ? 16 : 32,
          d);
  warp.countMmaFlops(inst, 4 * 2 * 8 * 8 * 4);
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// Registers of a fragment of `values` elements per lane.
unsigned registersFor(unsigned values, unsigned elementBits) {
  return elementBits >= 32 ? values : values * elementBits / 32;
}

llvm::Error checkAccumulators(const Modifiers &modifiers, const Instruction &inst,
                              OperandClass operands) {
  Type d = inst.types[0], c = inst.types[3];
  bool ok = false;
  switch (operands) {
  case OperandClass::Half:
  case OperandClass::Float8:
    ok = (d == Type::F16 || d == Type::F32) && c == d;
    break;
  case OperandClass::BFloat:
  case OperandClass::TF32:
    ok = d == Type::F32 && c == Type::F32;
    break;
  case OperandClass::Double:
    ok = d == Type::F64 && c == Type::F64;
    break;
  default:
    ok = d == Type::S32 && c == Type::S32;
    break;
  }
  if (ok)
    return llvm::Error::success();
  return modifiers.error("these operand types do not go with these accumulator types");
}

/// m8n8k4 on f16: eight accumulators, whose type C and D may each choose.
llvm::Error decodeM8N8K4(const Modifiers &modifiers, Instruction &inst) {
  for (Type type : {inst.types[0], inst.types[3]})
    if (type != Type::F16 && type != Type::F32)
      return modifiers.error("accumulators are f16 or f32");
  unsigned registersD = inst.types[0] == Type::F16 ? 4 : 8;
  unsigned registersC = inst.types[3] == Type::F16 ? 4 : 8;
  if (llvm::Error error = checkRegisters(modifiers, inst.operands[0], "d", registersD))
    return error;
  if (llvm::Error error = checkRegisters(modifiers, inst.operands[1], "a", 2))
    return error;
  if (llvm::Error error = checkRegisters(modifiers, inst.operands[2], "b", 2))
    return error;
  if (llvm::Error error = checkRegisters(modifiers, inst.operands[3], "c", registersC))
    return error;
  inst.handler = mmaM8N8K4;
  return llvm::Error::success();
}

llvm::Error decodeMma(const Modifiers &modifiers, Instruction &inst) {
  inst.convergence = Convergence::FullWarp;
  llvm::ArrayRef<llvm::StringRef> parts = modifiers.all();
  if (parts.size() < 8 || parts[0] != "aligned" || inst.types.size() != 4)
    return modifiers.error("expected .aligned, a shape, two layouts and four types");
  if (llvm::Error error = checkOperandCount(modifiers, inst, 4, 4))
    return error;
  llvm::StringRef shape = parts[1], layoutA = parts[2], layoutB = parts[3];
  std::optional<MatrixType> a = matrixType(inst.types[1]), b = matrixType(inst.types[2]);
  if (!a || !b || classOf(*a) != classOf(*b))
    return modifiers.error("operand types must be two of f16; bf16; tf32; f64; e4m3, e5m2; s8, "
                           "u8; s4, u4; b1");
  inst.aux[0] = modifiers.has("satfinite") * Saturate | modifiers.has("xor") * Xor |
                (layoutA == "row") * RowA | (layoutB == "row") * RowB;
  if (shape == "m8n8k4" && *a == MatrixType::F16)
    return decodeM8N8K4(modifiers, inst);

  if (layoutA != "row" || layoutB != "col")
    return modifiers.error("only .row.col exists for this shape");
  OperandClass operands = classOf(*a);
  const MmaForm *form = findForm(shape, operands);
  if (!form)
    return modifiers.error("these types have the shapes " + shapesOf(operands));
  if (operands == OperandClass::Bit && !modifiers.has("popc"))
    return modifiers.error("expected .xor.popc or .and.popc");
  if (llvm::Error error = checkAccumulators(modifiers, inst, operands))
    return error;
  unsigned width = operands == OperandClass::Bit ? 32 : bitWidth(*a);
  unsigned accumulatorWidth = bitWidth(inst.types[0]);
  unsigned registersC = registersFor(form->c.valuesPerLane(), accumulatorWidth);
  if (llvm::Error error = checkRegisters(modifiers, inst.operands[0], "d", registersC))
    return error;
  if (llvm::Error error = checkRegisters(modifiers, inst.operands[1], "a",
                                         registersFor(form->a.valuesPerLane(), width)))
    return error;
  if (llvm::Error error = checkRegisters(modifiers, inst.operands[2], "b",
                                         registersFor(form->b.valuesPerLane(), width)))
    return error;
  if (llvm::Error error = checkRegisters(modifiers, inst.operands[3], "c", registersC))
    return error;
  inst.table = form;
  inst.handler = mma;
  return llvm::Error::success();
}

llvm::Error refuseSparse(const Modifiers &modifiers, Instruction &) {
  return modifiers.error("sparse matrix products are not emulated; mma.sync is");
}

} // namespace

void tcc::emulator::registerMmaInstructions(InstructionTable &table) {
  table.add("mma.sync", decodeMma);
  table.add("mma.sp", refuseSparse);
  table.add("mma.sp::ordered_metadata", refuseSparse);
}
