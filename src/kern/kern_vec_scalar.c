/* kern_vec_scalar.c: kern_vec_body.h for whatever the baseline of the compiler is (SSE2 on x86-64),
 * multiply and add rounded apart; the flags of its library do it. */
#include "config.h"

#define VEC_ROW kern_vec_scalar
#define VEC_NAME "scalar"
#define VEC_NEEDS ISA_SCALAR
#define VEC_LANES 4 /* floats in a register */
#include "kern/kern_vec_body.h"
