//===- SpinWatch.h - Warps that repeat a loop for ever ----------*- C++ -*-===//
//
// While nothing changes that a warp could see, what it does next depends on its own state alone. A
// warp that is in one state for the second time will be in it for ever: it polls memory that
// nothing will write, or just loops. A loop that counts, or looks at a clock, is never in a state
// again.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_LIB_EMULATOR_SPINWATCH_H
#define TCC_LIB_EMULATOR_SPINWATCH_H

#include "Execution.h"

#include "llvm/ADT/DenseMap.h"

namespace tcc::emulator {

/// What decides how a warp goes on.
struct WarpState {
  struct Place {
    uint32_t mask, index;
    std::shared_ptr<const Frame> frame;
    std::shared_ptr<Join> join;
    bool operator==(const Place &other) const {
      return mask == other.mask && index == other.index && frame == other.frame &&
             join == other.join;
    }
  };
  std::vector<Place> places;
  std::vector<Row> registers;
  std::vector<uint32_t> predicates;
  uint32_t carry = 0;
  std::array<std::vector<uint8_t>, kLanes> stack;

  bool operator==(const WarpState &other) const {
    return places == other.places && carry == other.carry && predicates == other.predicates &&
           registers == other.registers && stack == other.stack;
  }
};

class SpinWatch {
public:
  /// Something changed: what was seen says nothing any more.
  void reset() { watched.clear(); }
  /// Looks at a warp. True if it has been in one state twice since the last reset.
  bool repeats(const Warp &warp);

private:
  /// The state remembered is a new one after 1, 2, 4, … looks, so that a loop of any length comes
  /// round to it (Brent's way to find a cycle).
  struct Watched {
    WarpState state;
    uint64_t looks = 0, renewal = 1;
    bool repeats = false;
  };
  llvm::DenseMap<const Warp *, Watched> watched;
};

} // namespace tcc::emulator

#endif // TCC_LIB_EMULATOR_SPINWATCH_H
