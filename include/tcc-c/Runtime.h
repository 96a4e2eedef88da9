/*===- Runtime.h - C interface to tcc's runtime ------------------------------===*\
 *
 * Loads PTX with a tcc header and launches it on the caller's matrices: the variant is chosen by
 * their sizes, strides and addresses. docs/Metadata.md describes the header.
 *
 * Functions that can fail take a last argument `error`; where they fail, they set *error to a
 * message that tccFreeMessage releases. `error` may be null.
 *
 * A device and what is loaded on it belong to one thread at a time.
 *
\*===----------------------------------------------------------------------===*/

#ifndef TCC_C_RUNTIME_H
#define TCC_C_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TccDevice TccDevice;
typedef struct TccProgram TccProgram;

/** One matrix. Sizes and strides count elements; both arrays have `rank` entries. */
typedef struct TccMatrix {
  uint64_t address; /**< of element (0, ..., 0), on the device */
  const int64_t *sizes;
  const int64_t *strides;
  size_t rank;
} TccMatrix;

void tccFreeMessage(char *message);

/** `backend` is "auto", "cuda" or "emulator". Null where it fails. */
TccDevice *tccOpenDevice(const char *backend, char **error);
/** Programs loaded on the device must be unloaded before. */
void tccCloseDevice(TccDevice *device);

/** Device memory, 256-byte aligned; 0 where it fails. Memory of other owners (cudaMalloc) can be
    used as well. */
uint64_t tccAllocate(TccDevice *device, size_t bytes, char **error);
void tccFree(TccDevice *device, uint64_t address);
/** Return 0, or -1 where they fail. */
int tccCopyIn(TccDevice *device, uint64_t address, const void *source, size_t bytes, char **error);
int tccCopyOut(TccDevice *device, void *target, uint64_t address, size_t bytes, char **error);

/** Loads the program `name` (null: the only one) of a PTX text. Null where it fails. */
TccProgram *tccLoadProgram(TccDevice *device, const char *ptx, size_t length, const char *name,
                           char **error);
void tccUnloadProgram(TccProgram *program);

/** The arguments that tccLaunch expects, in order. */
size_t tccGetArgumentCount(const TccProgram *program);
/** Null where there is no such argument. Lives as long as the program. */
const char *tccGetArgumentName(const TccProgram *program, size_t argument);

/** Runs the program on `count` matrices, to its end. Returns 0, or -1 where the matrices don't fit
    the program or the kernel fails. */
int tccLaunch(TccProgram *program, const TccMatrix *matrices, size_t count, char **error);
/** The label of the variant that was launched last; null before the first launch. */
const char *tccGetVariant(const TccProgram *program);

#ifdef __cplusplus
}
#endif

#endif /* TCC_C_RUNTIME_H */
