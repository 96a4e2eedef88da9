//===- TileDistribution.h - Which thread holds which element of a tile --------*- C++ -*-===//
//
// A tile's encoding says how its elements are spread over the threads of a block. For one thread
// that is a list of registers, and for each register a position: where in the tile its first
// element stands. A position is a sum of a part that depends on the thread and a constant, so that
// the address of every register of a tile is one computed address plus an immediate.
//
// Warps are numbered along M first: warp w works at (w mod warpsM, w div warpsM) of the warp grid.
//
//===------------------------------------------------------------------------------------===//

#ifndef TCC_LIB_DIALECT_TCC_TRANSFORMS_TILEDISTRIBUTION_H
#define TCC_LIB_DIALECT_TCC_TRANSFORMS_TILEDISTRIBUTION_H

#include "tcc/Dialect/Tcc/IR/TccAttrs.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::tcc {

/// A coordinate in a tile: `warp + base + offset`. `base` (i32, null for zero) depends on the
/// thread's place in its warp or block and is a multiple of `multiple` in [0, bound); `warp` (i32,
/// null for zero) is a multiple of `warpMultiple` in [0, warpBound), and kept apart because a
/// swizzle's constants survive it where it moves by whole periods.
struct Coordinate {
  Value base;
  int64_t offset = 0;
  int64_t multiple = 1;
  int64_t bound = 1;
  Value warp = {};
  int64_t warpMultiple = 1;
  int64_t warpBound = 1;

  Coordinate plus(int64_t constant) const {
    Coordinate result = *this;
    result.offset += constant;
    return result;
  }
  /// The greatest power of two, at most `limit`, that divides the coordinate in every thread.
  int64_t getAlignment(int64_t limit) const;
  bool operator==(const Coordinate &other) const {
    return base == other.base && offset == other.offset && warp == other.warp;
  }
};

/// Where a register's elements stand.
struct RegisterPosition {
  SmallVector<Coordinate, 2> coordinates; // one per dimension of the tile
  Value owned;                            // i1; null if every thread owns the register
};

/// Emits i32 arithmetic with constants folded away and repetition left out: a tile's registers ask
/// for much the same arithmetic. It moves forward only, into regions and out of them: what stands
/// in the insertion point's block or around it was made before and is used again.
class I32Builder {
public:
  I32Builder(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  Value constant(int64_t value);
  /// A null value stands for zero.
  Value add(Value lhs, Value rhs);
  Value add(Value lhs, int64_t rhs);
  Value sub(Value lhs, Value rhs);
  Value mul(Value lhs, int64_t rhs);
  Value div(Value lhs, int64_t rhs); // unsigned
  Value rem(Value lhs, int64_t rhs); // unsigned
  Value bitAnd(Value lhs, int64_t rhs);
  Value bitXor(Value lhs, Value rhs);
  Value bitXor(Value lhs, int64_t rhs);
  Value min(Value lhs, Value rhs);  // signed
  Value max(Value lhs, Value rhs);  // signed
  Value less(Value lhs, Value rhs); // signed
  Value threadId();
  Value lane();
  Value warp();

  /// `coordinate` as one value.
  Value materialize(const Coordinate &coordinate);

  /// An op without side effects, told from others of its kind by its operands and `detail`. The
  /// kind is an op's, or a type's for its constants.
  struct Key {
    TypeID kind;
    Value lhs = {}, rhs = {};
    int64_t detail = 0;
  };
  /// The value of the op that `key` stands for; `make` makes it where it isn't known yet.
  Value getOrCreate(const Key &key, function_ref<Value()> make);
  template <typename OpTy> Value getOrCreate(Value lhs, Value rhs) {
    return getOrCreate({TypeID::get<OpTy>(), lhs, rhs},
                       [&]() -> Value { return OpTy::create(builder, loc, lhs, rhs); });
  }

  OpBuilder &builder;
  Location loc;

private:
  using MapKey = std::tuple<const void *, Value, Value, int64_t>;
  llvm::SmallDenseMap<MapKey, Value, 32> known;
};

/// The distribution that a tile's type states.
class TileDistribution {
public:
  /// Fails for a type that has no distribution, or one of unknown registers; `reason`, if given,
  /// then says why.
  static FailureOr<TileDistribution> get(RankedTensorType type, std::string *reason = nullptr);

  RankedTensorType getType() const { return type; }
  int64_t getNumRegisters() const { return numRegisters; }
  /// The type of every register: a scalar, or a vector.
  Type getRegisterType() const;
  /// Elements of a register.
  int64_t getVectorLength() const { return vectorLength; }
  /// The tile's dimension along which a register's elements follow each other; none if they are all
  /// the same element (a slice that is broadcast along them) or if registers are scalars.
  std::optional<unsigned> getVectorDim() const { return vectorDim; }
  /// The position of registers is unspecified (wmma).
  bool isOpaque() const { return opaque; }

  /// The positions of all registers in the running thread. Not for opaque tiles.
  SmallVector<RegisterPosition> getPositions(I32Builder &b) const;

private:
  explicit TileDistribution(RankedTensorType type) : type(type) {}

  RankedTensorType type;
  int64_t numRegisters = 0;
  int64_t vectorLength = 1;
  bool isVector = false;
  std::optional<unsigned> vectorDim;
  bool opaque = false;
};

/// The registers of a thread for one atom: how many, and how many elements each holds.
struct AtomRegisters {
  int64_t count;
  int64_t elements;
};
/// None if the atom isn't one that is known (docs/IR.md, L4d).
std::optional<AtomRegisters> getAtomRegisters(FragmentAttr fragment, Type elementType);

/// The place in the grid of warps of a fragment, along M and N, of warp number `warp`; of the
/// running one if that is null.
std::pair<Value, Value> getWarpPlace(I32Builder &b, FragmentAttr fragment, Value warp = {});

/// The positions of the vectors of a blocked tile of `shape`, in the running thread.
SmallVector<RegisterPosition> getBlockedPositions(I32Builder &b, BlockedAttr blocked,
                                                  ArrayRef<int64_t> shape);

} // namespace mlir::tcc

#endif // TCC_LIB_DIALECT_TCC_TRANSFORMS_TILEDISTRIBUTION_H
