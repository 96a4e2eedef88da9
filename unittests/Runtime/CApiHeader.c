/* The C interface is C: this file must compile as such. */
#include "tcc-c/Runtime.h"

size_t tccUseHeaderFromC(const TccProgram *program) { return tccGetArgumentCount(program); }
