//===- MatrixProduct.cpp - D = A*B + C on a warp's fragments --------------===//

#include "MatrixProduct.h"

using namespace tcc::emulator;

std::optional<MatrixType> tcc::emulator::matrixType(Type type) {
  switch (type) {
  case Type::F16:
    return MatrixType::F16;
  case Type::BF16:
    return MatrixType::BF16;
  case Type::TF32:
    return MatrixType::TF32;
  case Type::F64:
    return MatrixType::F64;
  case Type::E4M3:
    return MatrixType::E4M3;
  case Type::E5M2:
    return MatrixType::E5M2;
  case Type::S8:
    return MatrixType::S8;
  case Type::U8:
    return MatrixType::U8;
  case Type::S4:
    return MatrixType::S4;
  case Type::U4:
    return MatrixType::U4;
  case Type::B1:
    return MatrixType::B1;
  default:
    return std::nullopt;
  }
}

bool tcc::emulator::requireChip(Warp &warp, const Instruction &inst, unsigned chip) {
  if (warp.chip() >= chip)
    return true;
  warp.fault(FindingKind::Unsupported, inst, *warp.lanes().begin(),
             "needs sm_" + llvm::Twine(chip) + " or later, the emulated chip is sm_" +
                 llvm::Twine(warp.chip()));
  return false;
}

llvm::Error tcc::emulator::checkRegisters(const Modifiers &modifiers, const Operand &operand,
                                          llvm::StringRef name, size_t expected) {
  size_t found = Warp::elements(operand).size();
  if (found == expected)
    return llvm::Error::success();
  return modifiers.error("operand " + name + " takes " + llvm::Twine(expected) +
                         " registers, found " + llvm::Twine(found));
}

//===----------------------------------------------------------------------===//
// Registers and matrices
//===----------------------------------------------------------------------===//

void tcc::emulator::gather(Warp &warp, llvm::ArrayRef<Operand> registers, const FragmentMap &map,
                           unsigned width, llvm::MutableArrayRef<uint32_t> matrix) {
  unsigned perRegister = 32 / width;
  uint32_t mask = ~uint32_t(0) >> (32 - width);
  for (unsigned r = 0; r < registers.size(); ++r) {
    const Row &row = warp.read(registers[r]);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const uint16_t *places = map.lane(lane).data() + r * perRegister;
      uint32_t bits = uint32_t(row[lane]);
      for (unsigned j = 0; j < perRegister; ++j)
        matrix[places[j]] = bits >> (j * width) & mask;
    }
  }
}

void tcc::emulator::gather64(Warp &warp, llvm::ArrayRef<Operand> registers, const FragmentMap &map,
                             llvm::MutableArrayRef<uint64_t> matrix) {
  for (unsigned r = 0; r < registers.size(); ++r) {
    const Row &row = warp.read(registers[r]);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      matrix[map.lane(lane)[r]] = row[lane];
  }
}

void tcc::emulator::scatter(Warp &warp, llvm::ArrayRef<Operand> registers, const FragmentMap &map,
                            unsigned width, llvm::ArrayRef<uint32_t> matrix) {
  unsigned perRegister = 32 / width;
  for (unsigned r = 0; r < registers.size(); ++r) {
    Row &row = warp.write(registers[r]);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const uint16_t *places = map.lane(lane).data() + r * perRegister;
      uint32_t bits = 0;
      for (unsigned j = 0; j < perRegister; ++j)
        bits |= matrix[places[j]] << (j * width);
      row[lane] = bits;
    }
  }
}

void tcc::emulator::scatter64(Warp &warp, llvm::ArrayRef<Operand> registers, const FragmentMap &map,
                              llvm::ArrayRef<uint64_t> matrix) {
  for (unsigned r = 0; r < registers.size(); ++r) {
    Row &row = warp.write(registers[r]);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      row[lane] = matrix[map.lane(lane)[r]];
  }
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static bool isInteger(MatrixType type) {
  return type == MatrixType::S8 || type == MatrixType::U8 || type == MatrixType::S4 ||
         type == MatrixType::U4;
}

void tcc::emulator::multiply(const MatrixProduct &product, llvm::ArrayRef<uint32_t> a,
                             llvm::ArrayRef<uint32_t> b, llvm::ArrayRef<uint32_t> c,
                             llvm::MutableArrayRef<uint32_t> d) {
  if (product.a == MatrixType::B1)
    return multiplyBits(product.bitXor, a, b, c, d, product.m, product.n, product.k / 32);
  if (isInteger(product.a))
    return multiplyInteger(product.a, product.b, product.saturate, a, b, c, d, product.m, product.n,
                           product.k);
  // Kept between calls: the buffers of the decoded operands are the only allocations of the
  // emulator's hottest path.
  static thread_local DecodedMatrix decodedA, decodedB;
  if (product.float8AsHalf) {
    decodedA.assignFloat8AsHalf(product.a, a, product.m, product.k);
    decodedB.assignFloat8AsHalf(product.b, b, product.n, product.k);
  } else {
    decodedA.assign(product.a, a, product.m, product.k, product.negateA);
    decodedB.assign(product.b, b, product.n, product.k, product.negateB);
  }
  multiplyFloat(product.rule, decodedA, decodedB,
                product.c == Type::F16 ? formats::F16 : formats::F32, c, d, product.m, product.n);
}

static void multiplyDoubleFragments(Warp &warp, const Instruction &inst,
                                    const MatrixProduct &product, const FragmentMaps &maps) {
  llvm::SmallVector<uint64_t, 0> a(maps.a.size()), b(maps.b.size()), c(maps.c.size()),
      d(maps.d.size());
  gather64(warp, Warp::elements(inst.operands[1]), maps.a, a);
  gather64(warp, Warp::elements(inst.operands[2]), maps.b, b);
  gather64(warp, Warp::elements(inst.operands[3]), maps.c, c);
  multiplyF64(a, b, c, d, product.rounding, product.m, product.n, product.k);
  scatter64(warp, Warp::elements(inst.operands[0]), maps.d, d);
}

/// b1 fragments move as words.
static unsigned fragmentWidth(MatrixType type) {
  return type == MatrixType::B1 ? 32 : bitWidth(type);
}

void tcc::emulator::multiplyFragments(Warp &warp, const Instruction &inst,
                                      const MatrixProduct &product, const FragmentMaps &maps) {
  warp.countMmaFlops(inst, product.flops());
  if (product.a == MatrixType::F64)
    return multiplyDoubleFragments(warp, inst, product, maps);
  // The largest operand is 32 x 16, or 16 x 64 of four bits.
  std::array<uint32_t, 1024> a, b, c, d;
  gather(warp, Warp::elements(inst.operands[1]), maps.a, fragmentWidth(product.a), a);
  gather(warp, Warp::elements(inst.operands[2]), maps.b, fragmentWidth(product.b), b);
  gather(warp, Warp::elements(inst.operands[3]), maps.c, bitWidth(product.c), c);
  multiply(product, llvm::ArrayRef(a).take_front(maps.a.size()),
           llvm::ArrayRef(b).take_front(maps.b.size()), llvm::ArrayRef(c).take_front(maps.c.size()),
           llvm::MutableArrayRef(d).take_front(maps.d.size()));
  scatter(warp, Warp::elements(inst.operands[0]), maps.d, bitWidth(product.d), d);
}
