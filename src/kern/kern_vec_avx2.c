/* kern_vec_avx2.c: kern_vec_body.h for AVX2 and FMA; the flags of its library do it. */
#include "config.h"

#define VEC_ROW kern_vec_avx2
#define VEC_NAME "avx2"
#define VEC_NEEDS ISA_AVX2
#define VEC_LANES 8 /* floats in a register */
#include "kern/kern_vec_body.h"
