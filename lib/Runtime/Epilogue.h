//===- Epilogue.h - What follows a matmul, as libraries name it -*- C++ -*-===//

#ifndef TCC_LIB_RUNTIME_EPILOGUE_H
#define TCC_LIB_RUNTIME_EPILOGUE_H

#include "tcc/Metadata/Reference.h"
#include "tcc/Runtime/Device.h"

namespace tcc::runtime {

/// What a program does with its product before it stores it.
struct MatchedEpilogue {
  Epilogue function = Epilogue::None;
  const metadata::RefNode *bias = nullptr; // its input; null without one
};

/// The epilogue between the nodes `product` and `root`, which must be elementwise. Programs write
/// one function in many ways (GELU by erf or by tanh, multiplied out or not), so functions are
/// compared by their values at sample points. Nothing where no library's epilogue has these values,
/// or where more than one input takes part.
std::optional<MatchedEpilogue> matchEpilogue(const metadata::Reference &reference, unsigned product,
                                             unsigned root);

} // namespace tcc::runtime

#endif // TCC_LIB_RUNTIME_EPILOGUE_H
