//===- TccTypes.td - Types of the tcc dialect --------------------*- tablegen -*-===//

#ifndef TCC_DIALECT_TCC_IR_TCCTYPES_TD
#define TCC_DIALECT_TCC_IR_TCCTYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "tcc/Dialect/Tcc/IR/TccAttrs.td"

class Tcc_Type<string name, string typeMnemonic> : TypeDef<Tcc_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Tcc_SharedType : Tcc_Type<"Shared", "shared"> {
  let summary = "A two-dimensional buffer in shared memory";
  let description = [{
    A buffer of `shape` elements, `stages` times (1 before `tcc-pipeline`). The
    layout is absent before `tcc-layout-shared`.

    Examples: `!tcc.shared<128x64xf16>`,
    `!tcc.shared<128x64xf16, stages = 3, #tcc.layout<contiguous = 1, span = 128>>`
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$shape,
    "Type":$elementType,
    DefaultValuedParameter<"int64_t", "1">:$stages,
    OptionalParameter<"SharedLayoutAttr">:$layout
  );
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Bytes of one stage in its layout (dense if there is none yet).
    int64_t getStageBytes() const;
    /// Bytes to which the buffer's start must be aligned.
    int64_t getAlignment() const;
    /// The same buffer with another layout or number of stages.
    SharedType withLayout(SharedLayoutAttr layout) const;
    SharedType withStages(int64_t stages) const;
  }];
}

def Tcc_PipelineType : Tcc_Type<"Pipeline", "pipeline"> {
  let summary = "A ring of buffer slots between a producer and its consumers";
  let description = [{
    Orders the accesses to the stages of the buffers that it guards. The
    transport says what stands behind it: barriers (`register`), cp.async
    groups and barriers (`cp_async`), full and empty mbarriers (`tma`).

    Example: `!tcc.pipeline<cp_async, stages = 3>`
  }];
  let parameters = (ins "Transport":$transport, "int64_t":$stages);
  let assemblyFormat = "`<` $transport `,` `stages` `=` $stages `>`";
  let genVerifyDecl = 1;
}

#endif // TCC_DIALECT_TCC_IR_TCCTYPES_TD
