//===- SpinWatch.cpp - Warps that repeat a loop for ever ------------------===//

#include "SpinWatch.h"

using namespace tcc::emulator;

WarpState Warp::state() const {
  WarpState state;
  for (const Group &group : exec->groups)
    state.places.push_back({group.mask, group.index, group.frame, group.join});
  state.registers = registers;
  state.predicates = predicates;
  state.carry = exec->carry;
  state.stack = exec->stack;
  return state;
}

bool SpinWatch::repeats(const Warp &warp) {
  Watched &entry = watched[&warp];
  if (entry.repeats)
    return true;
  WarpState now = warp.state();
  if (entry.looks && now == entry.state)
    return entry.repeats = true;
  if (entry.looks++ % entry.renewal == 0) {
    entry.state = std::move(now);
    entry.renewal *= 2;
    entry.looks = 1;
  }
  return false;
}
