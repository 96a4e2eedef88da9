//===- ControlFlowGraph.cpp - Where diverged lanes meet again ---*- C++ -*-===//
//
// Lanes that part at a branch reconverge at its immediate post-dominator. It is computed per
// function over basic blocks, with the iteration of Cooper, Harvey and Kennedy, "A Simple, Fast
// Dominance Algorithm", on the reversed graph.
//
//===----------------------------------------------------------------------===//

#include "Decode.h"

#include "llvm/ADT/DenseMap.h"

using namespace tcc::emulator;

namespace {

class PostDominators {
public:
  PostDominators(Program &program, const FunctionCode &function)
      : program(program), function(function) {
    findBlocks();
    connect();
    solve();
    assign();
  }

private:
  void successorsOf(const Instruction &inst, llvm::SmallVectorImpl<uint32_t> &out) const;
  void findBlocks();
  void connect();
  void solve();
  void assign();
  unsigned intersect(unsigned a, unsigned b) const;

  Program &program;
  const FunctionCode &function;
  /// Block i holds [starts[i], starts[i + 1]); the virtual exit comes last.
  std::vector<uint32_t> starts;
  std::vector<llvm::SmallVector<unsigned, 2>> successors, predecessors;
  std::vector<unsigned> order; // post-order number in the reversed graph
  std::vector<unsigned> immediate;
  unsigned exit = 0;
};

constexpr unsigned kUnknown = ~0u;

} // namespace

void PostDominators::successorsOf(const Instruction &inst,
                                  llvm::SmallVectorImpl<uint32_t> &out) const {
  bool falls = inst.guard != kNoSlot;
  switch (inst.flow) {
  case Flow::Next:
  case Flow::Call:
    falls = true;
    break;
  case Flow::Branch:
    out.push_back(uint32_t(inst.operands[0].immediate));
    break;
  case Flow::BranchIndexed:
    out.append(program.targetLists[inst.index].begin(), program.targetLists[inst.index].end());
    break;
  case Flow::Return:
  case Flow::Exit:
    out.push_back(function.end);
    break;
  }
  if (falls)
    out.push_back(inst.index + 1);
}

void PostDominators::findBlocks() {
  std::vector<bool> isStart(function.end - function.begin + 1);
  isStart[0] = true;
  llvm::SmallVector<uint32_t, 4> next;
  for (uint32_t i = function.begin; i < function.end; ++i) {
    const Instruction &inst = program.code[i];
    if (inst.flow == Flow::Next || inst.flow == Flow::Call)
      continue;
    isStart[i + 1 - function.begin] = true;
    next.clear();
    successorsOf(inst, next);
    for (uint32_t target : next)
      isStart[target - function.begin] = true;
  }
  for (uint32_t i = function.begin; i < function.end; ++i)
    if (isStart[i - function.begin])
      starts.push_back(i);
  exit = starts.size();
  starts.push_back(function.end);
}

void PostDominators::connect() {
  successors.resize(exit + 1);
  predecessors.resize(exit + 1);
  llvm::SmallVector<uint32_t, 4> next;
  for (unsigned block = 0; block < exit; ++block) {
    next.clear();
    successorsOf(program.code[starts[block + 1] - 1], next);
    for (uint32_t target : next) {
      unsigned to = llvm::lower_bound(starts, target) - starts.begin();
      successors[block].push_back(to);
      predecessors[to].push_back(block);
    }
  }
}

unsigned PostDominators::intersect(unsigned a, unsigned b) const {
  while (a != b) {
    while (order[a] < order[b])
      a = immediate[a];
    while (order[b] < order[a])
      b = immediate[b];
  }
  return a;
}

void PostDominators::solve() {
  order.assign(exit + 1, kUnknown);
  immediate.assign(exit + 1, kUnknown);
  std::vector<unsigned> postOrder;
  std::vector<std::pair<unsigned, unsigned>> stack{{exit, 0}};
  std::vector<bool> seen(exit + 1);
  seen[exit] = true;
  while (!stack.empty()) {
    auto &[block, edge] = stack.back();
    if (edge == predecessors[block].size()) {
      order[block] = postOrder.size();
      postOrder.push_back(block);
      stack.pop_back();
      continue;
    }
    unsigned to = predecessors[block][edge++];
    if (!seen[to]) {
      seen[to] = true;
      stack.push_back({to, 0});
    }
  }
  immediate[exit] = exit;
  bool changed = true;
  while (changed) {
    changed = false;
    for (unsigned block : llvm::reverse(postOrder)) {
      if (block == exit)
        continue;
      unsigned best = kUnknown;
      for (unsigned to : successors[block])
        if (order[to] != kUnknown && immediate[to] != kUnknown)
          best = best == kUnknown ? to : intersect(best, to);
      changed |= best != immediate[block];
      immediate[block] = best;
    }
  }
}

void PostDominators::assign() {
  for (unsigned block = 0; block < exit; ++block) {
    Instruction &last = program.code[starts[block + 1] - 1];
    unsigned meet = immediate[block];
    // Blocks that never reach the end (endless loops) have none.
    last.reconvergence = meet == kUnknown || meet == exit ? kFunctionEnd : starts[meet];
  }
}

void tcc::emulator::computeReconvergence(Program &program) {
  for (const FunctionCode &function : program.functions)
    PostDominators(program, function);
}
