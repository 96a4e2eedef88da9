//===- CublasLt.cpp - cublasLt as a peer to be measured against -----------===//
//
// The part of cublasLt.h in use is declared here, so that the runtime builds without the CUDA
// toolkit. cublasLt's matrices are column-major, ours have a row-major C: it is asked for
// Cᵀ = Bᵀ·Aᵀ, of which a row-major matrix is the column-major transpose.
//
//===----------------------------------------------------------------------===//

#include "CublasLt.h"
#include "llvm/ADT/Twine.h"
#include <dlfcn.h>

using namespace llvm;

namespace tcc::runtime::cuda {
namespace {

using Status = int;
using Opaque = void *;

constexpr int computeF32 = 68;        // CUBLAS_COMPUTE_32F
constexpr int descTransA = 3;         // CUBLASLT_MATMUL_DESC_TRANSA
constexpr int descTransB = 4;         // CUBLASLT_MATMUL_DESC_TRANSB
constexpr int descEpilogue = 7;       // CUBLASLT_MATMUL_DESC_EPILOGUE
constexpr int descBiasPointer = 8;    // CUBLASLT_MATMUL_DESC_BIAS_POINTER
constexpr int descBiasType = 26;      // CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE
constexpr int prefWorkspaceBytes = 1; // CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES
constexpr size_t workspaceBytes = size_t(64) << 20;
constexpr int mostCandidates = 8;

struct Algorithm {
  uint64_t data[8];
};

struct HeuristicResult {
  Algorithm algorithm;
  size_t workspaceBytes;
  Status state;
  float waves;
  int reserved[4];
};

#define TCC_CUBLASLT_FUNCTIONS(X)                                                                  \
  X(create, "cublasLtCreate", (Opaque *))                                                          \
  X(destroy, "cublasLtDestroy", (Opaque))                                                          \
  X(descCreate, "cublasLtMatmulDescCreate", (Opaque *, int, int))                                  \
  X(descDestroy, "cublasLtMatmulDescDestroy", (Opaque))                                            \
  X(descSet, "cublasLtMatmulDescSetAttribute", (Opaque, int, const void *, size_t))                \
  X(layoutCreate, "cublasLtMatrixLayoutCreate", (Opaque *, int, uint64_t, uint64_t, int64_t))      \
  X(layoutDestroy, "cublasLtMatrixLayoutDestroy", (Opaque))                                        \
  X(prefCreate, "cublasLtMatmulPreferenceCreate", (Opaque *))                                      \
  X(prefDestroy, "cublasLtMatmulPreferenceDestroy", (Opaque))                                      \
  X(prefSet, "cublasLtMatmulPreferenceSetAttribute", (Opaque, int, const void *, size_t))          \
  X(heuristic, "cublasLtMatmulAlgoGetHeuristic",                                                   \
    (Opaque, Opaque, Opaque, Opaque, Opaque, Opaque, Opaque, int, HeuristicResult *, int *))       \
  X(matmul, "cublasLtMatmul",                                                                      \
    (Opaque, Opaque, const void *, const void *, Opaque, const void *, Opaque, const void *,       \
     const void *, Opaque, void *, Opaque, const Algorithm *, void *, size_t, Stream))

struct Library {
#define X(member, symbol, parameters) Status(*member) parameters = nullptr;
  TCC_CUBLASLT_FUNCTIONS(X)
#undef X
};

Expected<Library> loadLibrary() {
  void *handle = nullptr;
  for (const char *name : {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"})
    if (!handle)
      handle = dlopen(name, RTLD_NOW);
  if (!handle)
    return createStringError("libcublasLt can't be loaded: install cuBLAS, or name its folder in "
                             "LD_LIBRARY_PATH");
  Library library;
#define X(member, symbol, parameters)                                                              \
  library.member = reinterpret_cast<Status(*) parameters>(dlsym(handle, symbol));                  \
  if (!library.member)                                                                             \
    return createStringError("libcublasLt lacks " symbol);
  TCC_CUBLASLT_FUNCTIONS(X)
#undef X
  return library;
}

/// cudaDataType
Expected<int> mapElementType(ElementType type) {
  switch (type) {
  case ElementType::F32:
    return 0;
  case ElementType::F16:
    return 2;
  case ElementType::BF16:
    return 14;
  default:
    return createStringError("--vs=cublaslt compares f16, bf16 and f32, found " + getName(type));
  }
}

Error check(Status status, const Twine &what) {
  if (status == 0)
    return Error::success();
  return createStringError(what + " failed with cublasStatus_t " + Twine(status) +
                           (status == 15 ? " (not supported)" : ""));
}

} // namespace

struct CublasLt::State {
  const Driver &driver;
  Library library;
  SmallVector<MatmulCall> calls;
  Opaque handle = nullptr, desc = nullptr, preference = nullptr;
  Opaque first = nullptr, second = nullptr, result = nullptr; // layouts of Bᵀ, Aᵀ and Cᵀ
  DevicePointer workspace = 0;
  std::vector<HeuristicResult> candidates;

  State(const Driver &driver, Library library, ArrayRef<MatmulCall> calls)
      : driver(driver), library(library), calls(calls) {}

  ~State() {
    for (Opaque layout : {first, second, result})
      if (layout)
        library.layoutDestroy(layout);
    if (preference)
      library.prefDestroy(preference);
    if (desc)
      library.descDestroy(desc);
    if (handle)
      library.destroy(handle);
    if (workspace)
      driver.memFree(workspace);
  }

  Error describe();
  Error setEpilogue();
  Error findCandidates();
};

Error CublasLt::State::describe() {
  const MatmulCall &call = calls.front();
  Expected<int> input = mapElementType(call.input);
  if (!input)
    return input.takeError();
  Expected<int> output = mapElementType(call.output);
  if (!output)
    return output.takeError();
  // A row-major matrix is stored as the column-major transpose that the product needs.
  int transposeFirst = !call.bIsRowMajor, transposeSecond = !call.aIsRowMajor;
  auto layout = [&](Opaque *out, int type, int64_t rows, int64_t columns, bool transposed,
                    int64_t leading) {
    return check(transposed ? library.layoutCreate(out, type, columns, rows, leading)
                            : library.layoutCreate(out, type, rows, columns, leading),
                 "cublasLtMatrixLayoutCreate");
  };
  if (Error error = check(library.create(&handle), "cublasLtCreate"))
    return error;
  if (Error error = check(library.descCreate(&desc, computeF32, /*scale=CUDA_R_32F*/ 0),
                          "cublasLtMatmulDescCreate"))
    return error;
  if (Error error = check(library.descSet(desc, descTransA, &transposeFirst, sizeof(int)),
                          "cublasLtMatmulDescSetAttribute"))
    return error;
  if (Error error = check(library.descSet(desc, descTransB, &transposeSecond, sizeof(int)),
                          "cublasLtMatmulDescSetAttribute"))
    return error;
  if (Error error = layout(&first, *input, call.columns, call.depth, transposeFirst, call.ldb))
    return error;
  if (Error error = layout(&second, *input, call.depth, call.rows, transposeSecond, call.lda))
    return error;
  return layout(&result, *output, call.columns, call.rows, false, call.ldc);
}

/// The columns of a row-major result are the rows of the transpose that is computed: a bias has one
/// element for each of them, as cublasLt's has.
Error CublasLt::State::setEpilogue() {
  const MatmulCall &call = calls.front();
  // cublasLtEpilogue_t: DEFAULT 1, RELU 2, GELU 32, and 4 for a bias.
  uint32_t epilogue = call.epilogue == Epilogue::Relu   ? 2
                      : call.epilogue == Epilogue::Gelu ? 32
                      : call.bias                       ? 0
                                                        : 1;
  epilogue |= call.bias ? 4 : 0;
  auto set = [&](int attribute, const auto &value) {
    return check(library.descSet(desc, attribute, &value, sizeof(value)),
                 "cublasLtMatmulDescSetAttribute");
  };
  if (Error error = set(descEpilogue, epilogue))
    return error;
  if (!call.bias)
    return Error::success();
  Expected<int> type = mapElementType(call.biasType);
  if (!type)
    return type.takeError();
  if (Error error = set(descBiasType, *type))
    return error;
  return set(descBiasPointer, call.bias);
}

Error CublasLt::State::findCandidates() {
  if (Error error = check(library.prefCreate(&preference), "cublasLtMatmulPreferenceCreate"))
    return error;
  if (Error error = check(
          library.prefSet(preference, prefWorkspaceBytes, &workspaceBytes, sizeof(workspaceBytes)),
          "cublasLtMatmulPreferenceSetAttribute"))
    return error;
  HeuristicResult results[mostCandidates];
  int found = 0;
  if (Error error = check(library.heuristic(handle, desc, first, second, result, result, preference,
                                            mostCandidates, results, &found),
                          "cublasLtMatmulAlgoGetHeuristic"))
    return error;
  for (int i = 0; i < found; ++i)
    if (results[i].state == 0)
      candidates.push_back(results[i]);
  if (candidates.empty())
    return createStringError("cublasLt has no algorithm for this matmul");
  return driver.check(driver.memAlloc(&workspace, workspaceBytes), "allocation of a workspace");
}

CublasLt::CublasLt(std::unique_ptr<State> state) : state(std::move(state)) {}
CublasLt::~CublasLt() = default;

Expected<std::unique_ptr<CublasLt>> CublasLt::create(const Driver &driver,
                                                     ArrayRef<MatmulCall> calls) {
  Expected<Library> library = loadLibrary();
  if (!library)
    return library.takeError();
  auto state = std::make_unique<State>(driver, *library, calls);
  if (Error error = state->describe())
    return std::move(error);
  if (Error error = state->setEpilogue())
    return std::move(error);
  if (Error error = state->findCandidates())
    return std::move(error);
  return std::unique_ptr<CublasLt>(new CublasLt(std::move(state)));
}

size_t CublasLt::getNumCandidates() const { return state->candidates.size(); }

Error CublasLt::enqueue(size_t candidate, size_t set) {
  const MatmulCall &call = state->calls[set];
  float alpha = 1, beta = call.accumulate;
  if (call.bias)
    if (Error error = check(
            state->library.descSet(state->desc, descBiasPointer, &call.bias, sizeof(call.bias)),
            "cublasLtMatmulDescSetAttribute"))
      return error;
  auto pointer = [](uint64_t address) { return reinterpret_cast<void *>(address); };
  return check(state->library.matmul(state->handle, state->desc, &alpha, pointer(call.b),
                                     state->first, pointer(call.a), state->second, &beta,
                                     pointer(call.c), state->result, pointer(call.c), state->result,
                                     &state->candidates[candidate].algorithm,
                                     pointer(state->workspace), workspaceBytes, nullptr),
               "cublasLtMatmul");
}

} // namespace tcc::runtime::cuda
