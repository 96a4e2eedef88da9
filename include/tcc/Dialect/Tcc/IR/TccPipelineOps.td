//===- TccPipelineOps.td - Order between producers and consumers -*- tablegen -*-===//

#ifndef TCC_DIALECT_TCC_IR_TCCPIPELINEOPS_TD
#define TCC_DIALECT_TCC_IR_TCCPIPELINEOPS_TD

include "tcc/Dialect/Tcc/IR/TccOpBase.td"

def Tcc_CreatePipelineOp : Tcc_Op<"create_pipeline", [MemoryEffects<[MemAlloc]>]> {
  let summary = "A pipeline that guards the stages of shared buffers";
  let description = [{
    All slots start free. The state of a producer or consumer is a slot number
    and a phase bit that flips each time the slots wrap; both start at 0
    (CUTLASS: PipelineState).

    1. Every buffer has as many stages as the pipeline.

    ```mlir
    %p = tcc.create_pipeline %sa, %sb : !tcc.shared<…>, !tcc.shared<…> -> !tcc.pipeline<cp_async, stages = 3>
    ```
  }];
  let arguments = (ins Variadic<Tcc_SharedType>:$buffers);
  let results = (outs Tcc_PipelineType:$result);
  let assemblyFormat = "$buffers attr-dict `:` type($buffers) `->` type($result)";
  let hasVerifier = 1;
}

class Tcc_PipelineStepOp<string opMnemonic>
    : Tcc_Op<opMnemonic, [MemoryEffects<[MemRead, MemWrite]>]> {
  let arguments = (ins Tcc_PipelineType:$pipeline, I32:$slot, I32:$phase);
  let assemblyFormat = "$pipeline `[` $slot `,` $phase `]` attr-dict `:` type($pipeline)";
}

def Tcc_ProducerAcquireOp : Tcc_PipelineStepOp<"producer_acquire"> {
  let summary = "Wait until a slot is free to be written";
  let description = [{
    ```mlir
    tcc.producer_acquire %p[%slot, %phase] : !tcc.pipeline<cp_async, stages = 3>
    ```
  }];
}

def Tcc_ProducerCommitOp : Tcc_PipelineStepOp<"producer_commit"> {
  let summary = "End the writes to a slot";
  let description = [{
    Closes the group of copies issued since `tcc.producer_acquire`.

    ```mlir
    tcc.producer_commit %p[%slot, %phase] : !tcc.pipeline<cp_async, stages = 3>
    ```
  }];
}

def Tcc_ProducerTailOp : Tcc_PipelineStepOp<"producer_tail"> {
  let summary = "Wait until all slots have been given back";
  let description = [{
    The last step of a producer in a cluster, whose state is that of the next
    slot it would write: a block's shared memory must live until its peers have
    given back the slots that they filled together (CUTLASS: producer_tail).

    1. The pipeline's transport is `tma`.

    ```mlir
    tcc.producer_tail %p[%slot, %phase] : !tcc.pipeline<tma, stages = 5>
    ```
  }];
  let hasVerifier = 1;
}

def Tcc_ConsumerWaitOp : Tcc_Op<"consumer_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Wait until a slot is full and visible to every consumer";
  let description = [{
    `pending` is the number of younger commits of the same producer that may
    still be in flight: what cp.async.wait_group needs. At this point every
    consumer has also released all earlier slots, for pipelines whose roles are
    uniform: the wait is a barrier of the block.

    ```mlir
    tcc.consumer_wait %p[%slot, %phase] {pending = 1} : !tcc.pipeline<cp_async, stages = 3>
    ```
  }];
  let arguments = (ins Tcc_PipelineType:$pipeline, I32:$slot, I32:$phase,
                       DefaultValuedAttr<I64Attr, "0">:$pending);
  let assemblyFormat = "$pipeline `[` $slot `,` $phase `]` attr-dict `:` type($pipeline)";
  let hasVerifier = 1;
}

def Tcc_ConsumerReleaseOp : Tcc_PipelineStepOp<"consumer_release"> {
  let summary = "End the reads of a slot";
  let description = [{
    ```mlir
    tcc.consumer_release %p[%slot, %phase] : !tcc.pipeline<cp_async, stages = 3>
    ```
  }];
}

def Tcc_AdvanceOp : Tcc_Op<"advance", [Pure]> {
  let summary = "The next slot and its phase";
  let description = [{
    With `by`, the slot that many places on: what a consumer group skips while
    another group takes a tile.

    ```mlir
    %slot1, %phase1 = tcc.advance %p[%slot, %phase] : !tcc.pipeline<cp_async, stages = 3>
    ```
  }];
  let arguments = (ins Tcc_PipelineType:$pipeline, I32:$slot, I32:$phase, Optional<I32>:$by);
  let results = (outs I32:$nextSlot, I32:$nextPhase);
  let builders = [OpBuilder<(ins "Value":$pipeline, "Value":$slot, "Value":$phase), [{
    build($_builder, $_state, pipeline, slot, phase, /*by=*/Value());
  }]>];
  let assemblyFormat = [{
    $pipeline `[` $slot `,` $phase `]` (`by` $by^)? attr-dict `:` type($pipeline)
  }];
}

def Tcc_DrainOp : Tcc_Op<"drain", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Wait until nothing of a pipeline is in flight";
  let description = [{
    After it, the buffers may be used for something else by the whole block.

    ```mlir
    tcc.drain %p : !tcc.pipeline<cp_async, stages = 3>
    ```
  }];
  let arguments = (ins Tcc_PipelineType:$pipeline);
  let assemblyFormat = "$pipeline attr-dict `:` type($pipeline)";
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

def Tcc_WarpSpecializeOp : Tcc_Op<"warp_specialize",
    [SingleBlockImplicitTerminator<"RoleEndOp">, NoRegionArguments]> {
  let summary = "Give the warps of a block roles";
  let description = [{
    The first `consumers` warps run the region `consumer`; one thread of the
    warps that follow runs the region `producer`. The regions run side by
    side and meet at pipelines alone: a barrier of the whole block may not stand
    in either. The first threads are the consumers, so that a tile is spread
    over them as it is over a block without roles. They are one group that
    shares a tile, or `groups` of equal size, each with tiles of its own:
    `tcc.consumer_group` says which one runs.

    1. `consumers` is a multiple of 4 in each group: whole warpgroups.
    2. Neither region holds a `gpu.barrier`.
    3. `groups` is 1 or 2.

    ```mlir
    tcc.warp_specialize consumers = 8 producer {
      …
    } consumer {
      …
    }
    ```
  }];
  let arguments = (ins I64Attr:$consumers, DefaultValuedAttr<I64Attr, "1">:$groups);
  let regions = (region SizedRegion<1>:$producer, SizedRegion<1>:$consumer);
  let assemblyFormat = [{
    `consumers` `=` $consumers (`groups` `=` $groups^)? attr-dict `producer` $producer `consumer` $consumer
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Threads of one consumer group.
    int64_t getGroupThreads() { return getConsumers() / getGroups() * 32; }
  }];
}

def Tcc_ConsumerGroupOp : Tcc_Op<"consumer_group", [Pure]> {
  let summary = "The number of the consumer group that runs";
  let description = [{
    1. Stands in the region `consumer` of a `tcc.warp_specialize`.

    ```mlir
    %g = tcc.consumer_group
    ```
  }];
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def Tcc_GroupBarrierOp : Tcc_Op<"group_barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "A barrier of the consumers that share a tile";
  let description = [{
    1. Stands in the region `consumer` of a `tcc.warp_specialize`.

    ```mlir
    tcc.group_barrier
    ```
  }];
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def Tcc_TurnWaitOp : Tcc_PipelineStepOp<"turn_wait"> {
  let summary = "Wait until it is a consumer group's turn to read the pipeline";
  let description = [{
    Group `slot` waits for its turn number `phase` modulo 2; group 0 begins. A
    phase bit tells two phases of a slot apart and no more, so that groups which
    ran freely could take a later phase for theirs.

    1. Stands in the region `consumer` of a `tcc.warp_specialize` with two
       groups.
    2. The pipeline's transport is `tma`.

    ```mlir
    tcc.turn_wait %p[%group, %turn] : !tcc.pipeline<tma, stages = 5>
    ```
  }];
  let hasVerifier = 1;
}

def Tcc_TurnPassOp : Tcc_PipelineStepOp<"turn_pass"> {
  let summary = "Give the turn to the next consumer group";
  let description = [{
    Group `slot` has waited for all its slots of this turn.

    1. Stands in the region `consumer` of a `tcc.warp_specialize` with two
       groups.
    2. The pipeline's transport is `tma`.

    ```mlir
    tcc.turn_pass %p[%group, %turn] : !tcc.pipeline<tma, stages = 5>
    ```
  }];
  let hasVerifier = 1;
}

def Tcc_RoleEndOp : Tcc_Op<"role_end", [Pure, Terminator, HasParent<"WarpSpecializeOp">]> {
  let summary = "The end of a role";
  let description = [{ Implicit in the assembly. }];
  let assemblyFormat = "attr-dict";
}

#endif // TCC_DIALECT_TCC_IR_TCCPIPELINEOPS_TD
