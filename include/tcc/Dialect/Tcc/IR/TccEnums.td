//===- TccEnums.td - Enumerations of the tcc dialect -------------*- tablegen -*-===//

#ifndef TCC_DIALECT_TCC_IR_TCCENUMS_TD
#define TCC_DIALECT_TCC_IR_TCCENUMS_TD

include "mlir/IR/EnumAttr.td"

class Tcc_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::mlir::tcc";
  let genSpecializedAttr = 0;
}

// How a tile travels from global to shared memory.
def Tcc_Transport : Tcc_Enum<"Transport", "transport of a global to shared copy", [
  I32EnumAttrCase<"Register", 0, "register">,  // ld.global, then st.shared
  I32EnumAttrCase<"CpAsync", 1, "cp_async">,   // cp.async (sm_80 and later)
  I32EnumAttrCase<"Tma", 2, "tma">             // cp.async.bulk.tensor (sm_90 and later)
]>;

// The instruction family that multiplies.
def Tcc_MmaFamily : Tcc_Enum<"MmaFamily", "Tensor Core instruction family", [
  I32EnumAttrCase<"Wmma", 0, "wmma">,
  I32EnumAttrCase<"MmaSync", 1, "mma_sync">,
  I32EnumAttrCase<"Wgmma", 2, "wgmma">
]>;

// A matmul operand: D(c) = A(a) * B(b) + C(c).
def Tcc_Operand : Tcc_Enum<"Operand", "operand of a matmul", [
  I32EnumAttrCase<"A", 0, "a">,
  I32EnumAttrCase<"B", 1, "b">,
  I32EnumAttrCase<"C", 2, "c">
]>;

// How the accumulator reaches global memory.
def Tcc_Epilogue : Tcc_Enum<"Epilogue", "path of the result to global memory", [
  I32EnumAttrCase<"Direct", 0, "direct">,  // each thread stores its own fragment
  I32EnumAttrCase<"Shared", 1, "shared">,  // through a staging buffer, then whole rows
  I32EnumAttrCase<"Tma", 2, "tma">         // through a staging buffer, then a TMA store
]>;

// Which warps do what.
def Tcc_Roles : Tcc_Enum<"Roles", "roles of the warps of a block", [
  I32EnumAttrCase<"Uniform", 0, "uniform">,          // every warp copies and multiplies
  I32EnumAttrCase<"Cooperative", 1, "cooperative">,  // a producer; consumers share a tile
  I32EnumAttrCase<"PingPong", 2, "ping_pong">        // a producer; consumers take tiles in turn
]>;

#endif // TCC_DIALECT_TCC_IR_TCCENUMS_TD
