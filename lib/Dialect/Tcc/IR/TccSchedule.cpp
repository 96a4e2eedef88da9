//===- TccSchedule.cpp - The schedule attribute -----------------------------------------===//

#include "tcc/Dialect/Tcc/IR/TccAttrs.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace mlir::tcc;

namespace {

/// What a schedule must state, while it is parsed.
struct Stated {
  std::optional<MmaFamily> mma;
  std::optional<Transport> transport;
  std::optional<int64_t> stages;
};

} // namespace

static ParseResult parseIntegers(AsmParser &parser, SmallVectorImpl<int64_t> &integers) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parser.parseInteger(integers.emplace_back());
  });
}

/// Parses an enumerator; the error lists what would be accepted.
template <typename EnumT>
static FailureOr<EnumT> parseEnumerator(AsmParser &parser,
                                        std::optional<EnumT> (*symbolize)(StringRef),
                                        StringRef accepted) {
  SMLoc location = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  if (std::optional<EnumT> value = symbolize(keyword))
    return *value;
  parser.emitError(location) << "expected " << accepted << ", found '" << keyword << "'";
  return failure();
}

static ParseResult parseBool(AsmParser &parser, bool &value) {
  SMLoc location = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  if (keyword != "true" && keyword != "false")
    return parser.emitError(location) << "expected true or false, found '" << keyword << "'";
  value = keyword == "true";
  return success();
}

/// Stores a parsed enumerator, or passes the failure on.
template <typename EnumT, typename TargetT>
static ParseResult assign(FailureOr<EnumT> parsed, TargetT &target) {
  if (failed(parsed))
    return failure();
  target = *parsed;
  return success();
}

static ParseResult parseField(AsmParser &parser, StringRef name, SMLoc location,
                              ScheduleFields &fields, Stated &stated) {
  if (name == "block")
    return parseIntegers(parser, fields.block);
  if (name == "warps")
    return parseIntegers(parser, fields.warps);
  if (name == "alignment")
    return parseIntegers(parser, fields.alignment);
  if (name == "cluster")
    return parseIntegers(parser, fields.cluster);
  if (name == "stages")
    return parser.parseInteger(stated.stages.emplace());
  if (name == "raster")
    return parser.parseInteger(fields.raster);
  if (name == "pending")
    return parser.parseInteger(fields.pending);
  if (name == "chunk")
    return parser.parseInteger(fields.chunk);
  if (name == "split_k")
    return parser.parseInteger(fields.splitK);
  if (name == "producer_warps")
    return parser.parseInteger(fields.producerWarps);
  if (name == "persistent")
    return parseBool(parser, fields.persistent);
  if (name == "swapped")
    return parseBool(parser, fields.swapped);
  if (name == "dependent_launch")
    return parseBool(parser, fields.dependentLaunch);
  if (name == "mma")
    return assign(parseEnumerator<MmaFamily>(parser, symbolizeMmaFamily,
                                             "wmma, mma_sync or wgmma"),
                  stated.mma);
  if (name == "transport")
    return assign(parseEnumerator<Transport>(parser, symbolizeTransport,
                                             "register, cp_async or tma"),
                  stated.transport);
  if (name == "epilogue")
    return assign(
        parseEnumerator<Epilogue>(parser, symbolizeEpilogue, "direct, shared or tma"),
        fields.epilogue);
  if (name == "roles")
    return assign(
        parseEnumerator<Roles>(parser, symbolizeRoles, "uniform, cooperative or ping_pong"),
        fields.roles);
  return parser.emitError(location)
         << "unknown schedule field '" << name
         << "'; known: block, warps, mma, transport, stages, epilogue, roles, alignment, raster, "
            "persistent, cluster, pending, chunk, swapped, dependent_launch, split_k, "
            "producer_warps";
}

Attribute ScheduleAttr::parse(AsmParser &parser, Type) {
  SMLoc start = parser.getCurrentLocation();
  ScheduleFields fields;
  Stated stated;
  llvm::SmallSet<StringRef, 16> seen;
  auto parseOne = [&]() -> ParseResult {
    SMLoc location = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    if (!seen.insert(name).second)
      return parser.emitError(location) << "schedule field '" << name << "' stands twice";
    return parseField(parser, name, location, fields, stated);
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseOne))
    return {};
  if (!stated.mma || !stated.transport || !stated.stages || fields.block.empty() ||
      fields.warps.empty()) {
    parser.emitError(start) << "a schedule needs block, warps, mma, transport and stages";
    return {};
  }
  // Exact types, so that the generated overload is taken: the storage is private to TccAttrs.cpp.
  auto emitError = [&] { return parser.emitError(start); };
  using Integers = ArrayRef<int64_t>;
  return getChecked(function_ref<InFlightDiagnostic()>(emitError), parser.getContext(),
                    Integers(fields.block), Integers(fields.warps), MmaFamily(*stated.mma),
                    Transport(*stated.transport), int64_t(*stated.stages),
                    Epilogue(fields.epilogue), Roles(fields.roles), Integers(fields.alignment),
                    int64_t(fields.raster), bool(fields.persistent), Integers(fields.cluster),
                    int64_t(fields.pending), int64_t(fields.chunk), bool(fields.swapped),
                    bool(fields.dependentLaunch), int64_t(fields.splitK),
                    int64_t(fields.producerWarps));
}

void ScheduleAttr::print(AsmPrinter &printer) const {
  printer << "<block = [" << getBlock() << "], warps = [" << getWarps()
          << "], mma = " << stringifyMmaFamily(getMma())
          << ", transport = " << stringifyTransport(getTransport()) << ", stages = " << getStages();
  if (getEpilogue() != Epilogue::Direct)
    printer << ", epilogue = " << stringifyEpilogue(getEpilogue());
  if (getRoles() != Roles::Uniform)
    printer << ", roles = " << stringifyRoles(getRoles());
  if (!getAlignment().empty())
    printer << ", alignment = [" << getAlignment() << "]";
  if (getRaster() != 1)
    printer << ", raster = " << getRaster();
  if (getPersistent())
    printer << ", persistent = true";
  if (!getCluster().empty())
    printer << ", cluster = [" << getCluster() << "]";
  if (getPending() != 0)
    printer << ", pending = " << getPending();
  if (getChunk() != 0)
    printer << ", chunk = " << getChunk();
  if (getSwapped())
    printer << ", swapped = true";
  if (getDependentLaunch())
    printer << ", dependent_launch = true";
  if (getSplitK() != 1)
    printer << ", split_k = " << getSplitK();
  if (getProducerWarps() != 4)
    printer << ", producer_warps = " << getProducerWarps();
  printer << ">";
}

//===----------------------------------------------------------------------===//
// Values, each by itself
//===----------------------------------------------------------------------===//

namespace {
/// What one field may hold. Which fields go together on a chip is ScheduleLegality's to say.
class ValueVerifier {
public:
  explicit ValueVerifier(function_ref<InFlightDiagnostic()> emitError) : emitError(emitError) {}

  LogicalResult verifyRange(StringRef field, int64_t value, int64_t least, int64_t most) {
    if (value >= least && value <= most)
      return success();
    return emitError() << "'" << field << "' is from " << least << " to " << most << ", found "
                       << value << "; nearest value: " << field << " = "
                       << std::clamp(value, least, most);
  }

  /// `nearest` gives the value next to one that the field may have; what is missing is `fill`.
  LogicalResult verifyList(StringRef field, StringRef meaning, ArrayRef<int64_t> values,
                           size_t count, int64_t fill, function_ref<int64_t(int64_t)> nearest) {
    SmallVector<int64_t> legal(values);
    legal.resize(count, fill);
    for (int64_t &value : legal)
      value = nearest(value);
    if (values == ArrayRef(legal))
      return success();
    return emitError() << "'" << field << "' is " << meaning << ", found [" << values
                       << "]; nearest value: " << field << " = [" << legal << "]";
  }

  LogicalResult verifyChunk(int64_t chunk, int64_t cut, char side);

private:
  function_ref<InFlightDiagnostic()> emitError;
};
} // namespace

LogicalResult ValueVerifier::verifyChunk(int64_t chunk, int64_t cut, char side) {
  if (chunk == 0 || (chunk > 0 && cut % chunk == 0))
    return success();
  // Epilogues store multiples of 8 where the block is one.
  int64_t nearest = chunk < 0 ? 0 : cut, step = cut % 8 == 0 ? 8 : 1;
  for (int64_t part = step; chunk > 0 && part < cut; part += step)
    if (cut % part == 0 && std::abs(part - chunk) < std::abs(nearest - chunk))
      nearest = part;
  return emitError() << "'chunk' divides block " << side << " = " << cut << ", found " << chunk
                     << "; nearest value: chunk = " << nearest;
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<int64_t> block, ArrayRef<int64_t> warps, MmaFamily,
                                   Transport, int64_t stages, Epilogue, Roles,
                                   ArrayRef<int64_t> alignment, int64_t raster, bool,
                                   ArrayRef<int64_t> cluster, int64_t pending,
                                   int64_t chunk, bool swapped, bool, int64_t splitK,
                                   int64_t producerWarps) {
  // Far above what any chip can hold; keeps every product below in range.
  constexpr int64_t maxExtent = 1 << 16;
  ValueVerifier verifier(emitError);
  auto inRange = [=](int64_t value) { return std::clamp<int64_t>(value, 1, maxExtent); };
  // A promise of less alignment is always true.
  auto alignmentBelow = [](int64_t bytes) {
    return int64_t(llvm::bit_floor(uint64_t(std::clamp<int64_t>(bytes, 1, 16))));
  };
  if (failed(verifier.verifyList("block", "M, N and K of the tile, each from 1 to 65536", block, 3,
                                 32, inRange)) ||
      failed(verifier.verifyList("warps", "the number of warps along M and N", warps, 2, 1,
                                 inRange)) ||
      failed(verifier.verifyRange("stages", stages, 1, maxExtent)) ||
      failed(verifier.verifyRange("raster", raster, 1, maxExtent)) ||
      failed(verifier.verifyRange("split_k", splitK, 1, maxExtent)) ||
      failed(verifier.verifyRange("producer_warps", producerWarps, 1, maxExtent)))
    return failure();
  if (!alignment.empty() &&
      failed(verifier.verifyList("alignment",
                                 "for the rows of A, B and C, each 1, 2, 4, 8 or 16 bytes",
                                 alignment, 3, 16, alignmentBelow)))
    return failure();
  if (!cluster.empty() &&
      failed(verifier.verifyList("cluster", "the number of blocks along M and N", cluster, 2, 1,
                                 inRange)))
    return failure();
  if (pending < 0 || pending >= stages)
    return emitError() << "'pending' is from 0 to one less than 'stages', found " << pending
                       << "; nearest value: pending = "
                       << std::clamp<int64_t>(pending, 0, stages - 1);
  return verifier.verifyChunk(chunk, swapped ? block[0] : block[1], swapped ? 'M' : 'N');
}

ScheduleFields ScheduleAttr::getFields() const {
  ScheduleFields fields;
  fields.block.assign(getBlock().begin(), getBlock().end());
  fields.warps.assign(getWarps().begin(), getWarps().end());
  fields.mma = getMma();
  fields.transport = getTransport();
  fields.stages = getStages();
  fields.epilogue = getEpilogue();
  fields.roles = getRoles();
  fields.alignment.assign(getAlignment().begin(), getAlignment().end());
  fields.raster = getRaster();
  fields.persistent = getPersistent();
  fields.cluster.assign(getCluster().begin(), getCluster().end());
  fields.pending = getPending();
  fields.chunk = getChunk();
  fields.swapped = getSwapped();
  fields.dependentLaunch = getDependentLaunch();
  fields.splitK = getSplitK();
  fields.producerWarps = getProducerWarps();
  return fields;
}

int64_t ScheduleAttr::getAlignmentOf(Operand operand) const {
  return getAlignment().empty() ? 2 : getAlignment()[static_cast<unsigned>(operand)];
}
