/* kern_vec_row.h: the rows of kern_vec, one per instruction set, all from kern_vec_body.h; for
 * kern_vec.c and the rows themselves. */
#ifndef KERN_VEC_ROW_H
#define KERN_VEC_ROW_H

#include "base/cpu.h"
#include "kern/kern_vec.h"

struct vec_row_entry {
    enum isa needs;
    struct vec_row row;
};

extern const struct vec_row_entry kern_vec_scalar;
extern const struct vec_row_entry kern_vec_avx2;
extern const struct vec_row_entry kern_vec_avx512;

#endif
