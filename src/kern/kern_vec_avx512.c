/* kern_vec_avx512.c: kern_vec_body.h for AVX-512; the flags of its library do it. */
#include "config.h"

#define VEC_ROW kern_vec_avx512
#define VEC_NAME "avx512"
#define VEC_NEEDS ISA_AVX512
#define VEC_LANES 16 /* floats in a register */
#include "kern/kern_vec_body.h"
