//===- HeaderReader.cpp - Reading the PTX header --------------------------===//

#include "tcc/Metadata/Header.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;

namespace tcc::metadata {

namespace {
struct Block {
  std::string json; // the objects, one after the other
  unsigned kernels; // how many the first line promises
};
} // namespace

/// `schema 1, 2 kernels`
static Expected<unsigned> parseBeginLine(StringRef text) {
  int64_t schema;
  unsigned kernels;
  StringRef rest = text.trim();
  if (!rest.consume_front("schema ") || rest.consumeInteger(10, schema) ||
      !rest.consume_front(", ") || rest.consumeInteger(10, kernels))
    return createStringError("malformed tcc header: expected '// tcc-metadata begin: schema <n>, "
                             "<n> kernels', found '" +
                             text.trim() + "'");
  if (schema > schemaVersion)
    return createStringError("the tcc header has schema " + Twine(schema) +
                             ", this build reads up to schema " + Twine(schemaVersion) +
                             "; use the tcc-run of the compiler that wrote it");
  return kernels;
}

/// Finds the block and takes the comment marks off.
static Expected<Block> extractBlock(StringRef ptx) {
  Block block{"", 0};
  bool inside = false;
  for (StringRef line : split(ptx, '\n')) {
    line = line.trim();
    bool isComment = line.consume_front("//");
    StringRef body = line.trim();
    if (!inside) {
      if (!isComment || !body.consume_front("tcc-metadata begin:"))
        continue;
      Expected<unsigned> kernels = parseBeginLine(body);
      if (!kernels)
        return kernels.takeError();
      block.kernels = *kernels;
      inside = true;
      continue;
    }
    if (body == "tcc-metadata end")
      return block;
    if (!isComment)
      break;
    block.json += line;
    block.json += '\n';
  }
  if (inside)
    return createStringError("truncated tcc header: expected '// tcc-metadata end'");
  return createStringError("no tcc header: expected a comment block '// tcc-metadata begin: …' "
                           "before the PTX; files written by tcc-translate --tcc-to-ptx have one");
}

/// Splits a row of JSON objects at the braces that close them.
static Expected<SmallVector<StringRef>> splitObjects(StringRef text) {
  SmallVector<StringRef> objects;
  size_t start = 0;
  unsigned depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        inString = false;
    } else if (c == '"') {
      inString = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && depth > 0 && --depth == 0) {
      objects.push_back(text.slice(start, i + 1));
      start = i + 1;
    }
    // The recursive JSON parser must not overflow the stack on a hostile header.
    if (depth > 64)
      return createStringError("malformed tcc header: nested more than 64 deep");
  }
  if (!text.drop_front(start).trim().empty())
    return createStringError("malformed tcc header: a kernel's JSON object isn't closed");
  return objects;
}

Expected<std::vector<Kernel>> readHeader(StringRef ptx) {
  Expected<Block> block = extractBlock(ptx);
  if (!block)
    return block.takeError();
  Expected<SmallVector<StringRef>> objects = splitObjects(block->json);
  if (!objects)
    return objects.takeError();
  if (objects->size() != block->kernels)
    return createStringError("truncated tcc header: its first line promises " +
                             Twine(block->kernels) + " kernels, found " + Twine(objects->size()));
  std::vector<Kernel> kernels;
  for (StringRef object : *objects) {
    Expected<Kernel> kernel = readKernel(object);
    if (!kernel)
      return kernel.takeError();
    if (Error error = kernel->verify())
      return std::move(error);
    kernels.push_back(std::move(*kernel));
  }
  return kernels;
}

} // namespace tcc::metadata
