//===- Report.cpp - Findings and counts as text and JSON --------*- C++ -*-===//

#include "tcc/Emulator/Report.h"
#include "tcc/Emulator/Emulator.h"

#include "llvm/Support/Format.h"

using namespace tcc::emulator;

llvm::StringRef tcc::emulator::toString(FindingKind kind) {
  switch (kind) {
  case FindingKind::OutOfBounds:
    return "out-of-bounds";
  case FindingKind::Misaligned:
    return "misaligned";
  case FindingKind::Uninitialized:
    return "uninitialized";
  case FindingKind::Race:
    return "race";
  case FindingKind::ProxyRace:
    return "proxy-race";
  case FindingKind::AsyncInFlight:
    return "async-in-flight";
  case FindingKind::Divergence:
    return "divergence";
  case FindingKind::BarrierMisuse:
    return "barrier-misuse";
  case FindingKind::Deadlock:
    return "deadlock";
  case FindingKind::StepLimit:
    return "step-limit";
  case FindingKind::Unsupported:
    return "unsupported";
  case FindingKind::IllegalInstruction:
    return "illegal-instruction";
  case FindingKind::Unspecified:
    return "unspecified";
  case FindingKind::Trap:
    return "trap";
  case FindingKind::PeerExited:
    return "peer-exited";
  }
  return "unknown";
}

std::string Finding::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << kernel << ':' << line << ": " << toString(kind) << ": " << message;
  if (!instruction.empty())
    os << " in `" << instruction << '`';
  os << " (block (" << block[0] << ',' << block[1] << ',' << block[2] << "), thread (" << thread[0]
     << ',' << thread[1] << ',' << thread[2] << ')';
  if (occurrences > 1)
    os << ", seen " << occurrences << " times";
  os << ')';
  return text;
}

void Report::print(llvm::raw_ostream &os) const {
  os << "kernel " << kernel << " on " << chip << ": " << blocks << " blocks of " << threadsPerBlock
     << " threads, " << sharedBytesPerBlock << " bytes of shared memory per block\n"
     << "  warp instructions " << warpInstructions << ", MMA flops " << mmaFlops
     << ", barrier waits " << barrierWaits << '\n'
     << "  global bytes read " << globalBytesRead << ", written " << globalBytesWritten
     << "; shared bytes read " << sharedBytesRead << ", written " << sharedBytesWritten << '\n';
  for (const InstructionReport &inst : instructions) {
    os << llvm::format("  %6u %10llu  ", inst.line, (unsigned long long)inst.executions)
       << inst.text;
    if (inst.minimumWavefronts)
      os << llvm::format("  [bank conflicts: worst %.2f, mean %.2f]", inst.worstConflict,
                         inst.meanConflict());
    if (inst.minimumSectors)
      os << "  [sectors " << inst.globalSectors << ", minimum " << inst.minimumSectors << ']';
    if (inst.mmaFlops)
      os << "  [flops " << inst.mmaFlops << ']';
    if (inst.waits)
      os << "  [waits " << inst.waits << ']';
    os << '\n';
  }
}

llvm::json::Value Report::toJSON() const {
  llvm::json::Array list;
  for (const InstructionReport &inst : instructions)
    list.push_back(llvm::json::Object{{"line", inst.line},
                                      {"text", inst.text},
                                      {"executions", inst.executions},
                                      {"lanes", inst.lanes},
                                      {"shared_wavefronts", inst.sharedWavefronts},
                                      {"minimum_wavefronts", inst.minimumWavefronts},
                                      {"worst_conflict", inst.worstConflict},
                                      {"mean_conflict", inst.meanConflict()},
                                      {"global_sectors", inst.globalSectors},
                                      {"minimum_sectors", inst.minimumSectors},
                                      {"bytes_read", inst.bytesRead},
                                      {"bytes_written", inst.bytesWritten},
                                      {"mma_flops", inst.mmaFlops},
                                      {"waits", inst.waits}});
  return llvm::json::Object{{"kernel", kernel},
                            {"chip", chip},
                            {"blocks", blocks},
                            {"threads_per_block", threadsPerBlock},
                            {"shared_bytes_per_block", sharedBytesPerBlock},
                            {"warp_instructions", warpInstructions},
                            {"mma_flops", mmaFlops},
                            {"global_bytes_read", globalBytesRead},
                            {"global_bytes_written", globalBytesWritten},
                            {"shared_bytes_read", sharedBytesRead},
                            {"shared_bytes_written", sharedBytesWritten},
                            {"barrier_waits", barrierWaits},
                            {"instructions", std::move(list)}};
}
