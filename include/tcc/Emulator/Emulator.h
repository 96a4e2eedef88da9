//===- Emulator.h - A functional PTX emulator -------------------*- C++ -*-===//
//
// PTX text in, memory out, and a list of what was wrong on the way. The emulator is written from
// the PTX ISA and depends on LLVM Support alone: it shares no code and no table with the compiler,
// so that agreement between the two means something.
//
// Use: parse a Module, allocate and fill memory on a Device, launch a kernel, look at
// LaunchResult::findings.
//
//===----------------------------------------------------------------------===//

#ifndef TCC_EMULATOR_EMULATOR_H
#define TCC_EMULATOR_EMULATOR_H

#include "tcc/Emulator/Report.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tcc::emulator {

struct ParsedModule;
class DeviceState;

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
};

/// One `.param` of an entry: where its bytes lie in LaunchConfig::parameters.
struct KernelParameter {
  std::string name;
  uint64_t offset = 0;
  uint64_t size = 0;
  uint64_t alignment = 1;
};

/// What a launcher may want to know about an entry before it launches it.
struct KernelInfo {
  std::string name;
  uint32_t line = 0;
  std::vector<KernelParameter> parameters;
  uint64_t parameterBytes = 0;
  /// Statically declared shared memory, without the dynamic part.
  uint64_t staticSharedBytes = 0;
  std::optional<Dim3> requiredBlock;   // .reqntid
  std::optional<Dim3> maximumBlock;    // .maxntid
  std::optional<Dim3> requiredCluster; // .reqnctapercluster
};

/// A parsed PTX module. Cheap to copy: copies share the parsed text.
class Module {
public:
  /// Parses PTX text. `name` is used in messages; an error reads "name:line:column: error: what".
  static llvm::Expected<Module> parse(llvm::StringRef text, llvm::StringRef name = "<ptx>");

  /// The first operand of `.target`, "sm_90a" for instance.
  llvm::StringRef target() const;
  const std::vector<KernelInfo> &kernels() const;
  /// Null when the module has no such entry.
  const KernelInfo *findKernel(llvm::StringRef name) const;

private:
  friend class Device;
  std::shared_ptr<const ParsedModule> parsed;
};

struct LaunchConfig {
  std::string kernel;
  Dim3 grid;
  Dim3 block;
  /// None: the entry's .reqnctapercluster, else no cluster.
  std::optional<Dim3> cluster;
  uint64_t dynamicSharedBytes = 0;
  /// The bytes of the `.param` space, laid out as KernelInfo::parameters says. Pointers are device
  /// addresses; a tensor map is its 128 encoded bytes.
  std::vector<uint8_t> parameters;
};

struct LaunchOptions {
  /// The chip to emulate, "sm_80" for instance; empty: the module's .target.
  std::string chip;
  /// 0: warps run in a fixed order. Any other value varies the schedule, and wmma's opaque fragment
  /// mapping on chips before sm_90, reproducibly.
  uint64_t seed = 0;
  /// Warp instructions after which the launch is stopped.
  uint64_t maxSteps = uint64_t(1) << 32;
  /// Races between warps, and between the generic and the async proxy, in shared memory.
  bool checkRaces = true;
  /// Reads of uninitialised registers and memory.
  bool checkUninitialized = true;
  /// Count bank conflicts, sectors and bytes for the report.
  bool collectReport = true;
  /// Print every instruction of this warp (block and warp are linear indices) to
  /// LaunchResult::trace.
  struct TraceSelection {
    uint64_t block = 0;
    uint32_t warp = 0;
  };
  std::optional<TraceSelection> trace;
  /// Distinct findings kept; one finding is one kind at one PTX line.
  unsigned maxFindings = 50;
};

enum class FindingKind : uint8_t {
  OutOfBounds,
  Misaligned,
  Uninitialized,
  Race,
  ProxyRace,     // generic and async accesses without the fence that orders them
  AsyncInFlight, // data or register of unfinished asynchronous work touched
  Divergence,    // warp-wide instruction without all its lanes
  BarrierMisuse, // bar.sync counts, mbarrier state, transaction bytes
  Deadlock,
  StepLimit,
  Unsupported,        // an instruction that the emulator cannot execute
  IllegalInstruction, // operands for which the hardware raises a fault
  Unspecified,        // the ISA leaves the result open
  Trap,
  PeerExited, // shared memory of a CTA that has exited
};
llvm::StringRef toString(FindingKind kind);

struct Finding {
  FindingKind kind = FindingKind::Unsupported;
  std::string kernel;
  /// Line of the instruction in the PTX text, from 1.
  uint32_t line = 0;
  /// The instruction as it is written.
  std::string instruction;
  std::array<uint32_t, 3> block = {0, 0, 0};
  std::array<uint32_t, 3> thread = {0, 0, 0};
  /// What was expected, what was found, with the values.
  std::string message;
  /// How many times this kind was seen at this line.
  uint64_t occurrences = 1;

  /// "kernel:line: kind: message (block (x,y,z), thread (x,y,z), seen n times)".
  std::string str() const;
};

enum class LaunchStatus : uint8_t {
  Completed,
  Faulted,    // the hardware would have stopped the kernel, or the emulator could not go on
  Deadlocked, // no warp can go on
  StepLimit,
};

struct LaunchResult {
  LaunchStatus status = LaunchStatus::Completed;
  std::vector<Finding> findings;
  Report report;
  std::string trace;
  uint64_t steps = 0;

  /// The kernel ran to its end and nothing was found.
  bool clean() const { return status == LaunchStatus::Completed && findings.empty(); }
};

/// The arguments of cuTensorMapEncodeTiled.
struct TensorMapDescriptor {
  enum class ElementType : uint8_t {
    U8,
    U16,
    U32,
    S32,
    U64,
    S64,
    F16,
    F32,
    F64,
    BF16,
    F32FTZ,
    TF32,
    TF32FTZ,
  };
  enum class Interleave : uint8_t { None, B16, B32 };
  enum class Swizzle : uint8_t { None, B32, B64, B128 };
  enum class Fill : uint8_t { Zeros, NaN };

  ElementType elementType = ElementType::U8;
  /// Device address of the tensor.
  uint64_t base = 0;
  /// Innermost first; the rank is dims.size(), 1 to 5.
  std::vector<uint64_t> dims;
  /// Bytes; rank - 1 of them, for dimensions 1 and up.
  std::vector<uint64_t> strides;
  std::vector<uint32_t> box;
  std::vector<uint32_t> elementStrides;
  Interleave interleave = Interleave::None;
  Swizzle swizzle = Swizzle::None;
  Fill fill = Fill::Zeros;
};

constexpr unsigned kTensorMapBytes = 128;

/// Encodes a descriptor in the emulator's own format; a kernel takes the bytes by value. The error
/// names the rule of cuTensorMapEncodeTiled that the descriptor breaks.
llvm::Expected<std::array<uint8_t, kTensorMapBytes>>
encodeTensorMap(const TensorMapDescriptor &descriptor);

/// A GPU: global memory and the modules loaded into it.
class Device {
public:
  Device();
  ~Device();
  Device(Device &&);
  Device &operator=(Device &&);

  /// Allocates global memory, 256-byte aligned with unmapped bytes on both sides. Its bytes count
  /// as uninitialised until they are written. Fails beyond 16 GiB in all.
  llvm::Expected<uint64_t> allocate(uint64_t bytes);
  llvm::Error free(uint64_t address);
  /// Copies to the device and marks the bytes as initialised.
  llvm::Error copyIn(uint64_t address, llvm::ArrayRef<uint8_t> bytes);
  llvm::Error copyOut(uint64_t address, llvm::MutableArrayRef<uint8_t> bytes) const;
  llvm::Error fill(uint64_t address, uint8_t value, uint64_t bytes);
  /// Number of bytes in [address, address + bytes) that nothing has written.
  llvm::Expected<uint64_t> uninitializedBytes(uint64_t address, uint64_t bytes) const;

  /// The address of a module's `.global` or `.const` variable; loads the module if needed.
  llvm::Expected<uint64_t> symbolAddress(const Module &module, llvm::StringRef name);

  /// Runs a kernel to its end. An Error is a launch that the driver would refuse (no such kernel,
  /// impossible shapes, too few parameter bytes, unknown chip); what goes wrong while it runs is in
  /// the result.
  llvm::Expected<LaunchResult> launch(const Module &module, const LaunchConfig &config,
                                      const LaunchOptions &options = {});

private:
  std::unique_ptr<DeviceState> state;
};

/// The chips that LaunchOptions::chip accepts.
llvm::ArrayRef<llvm::StringRef> supportedChips();

} // namespace tcc::emulator

#endif // TCC_EMULATOR_EMULATOR_H
