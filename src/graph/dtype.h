/* dtype.h: storage types of tensors. Only kern_gemm and kern_cast look at a value in half. */
#ifndef DTYPE_H
#define DTYPE_H

#include <stdbool.h>
#include <stddef.h>

enum dtype { DTYPE_F32, DTYPE_BF16, DTYPE_F16, DTYPE_I32, DTYPE_U8, DTYPE_COUNT };

size_t dtype_size(enum dtype t);      /* bytes of one element */
const char *dtype_name(enum dtype t); /* fp32, bf16, fp16, i32, u8 */
bool dtype_is_half(enum dtype t);
/* False when the name is none of them. */
bool dtype_from_name(const char *name, enum dtype *out);

/* The largest finite value and the smallest positive one (subnormal) of a floating type. */
double dtype_max(enum dtype t);
double dtype_min(enum dtype t);

#endif
