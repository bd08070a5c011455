/* kern_vec.c: see kern_vec.h. Picks the row.
 *
 * To add a row: a kern_vec_<isa>.c like the others, in the library of its instruction set
 * (Makefile.am), and a line in `rows`, best first. */
#include "config.h"

#include "kern/kern_vec.h"

#include "kern/kern_vec_row.h"

static const struct vec_row_entry *const rows[] = {
#ifdef HAVE_AVX512
    &kern_vec_avx512,
#endif
#ifdef HAVE_AVX2
    &kern_vec_avx2,
#endif
    &kern_vec_scalar,
};

const struct vec_row *kern_vec_row(int i)
{
    for (size_t r = 0; r < COUNT_OF(rows); r++)
        if (cpu_has(rows[r]->needs) && i-- == 0)
            return &rows[r]->row;
    return NULL;
}

const struct vec_row *kern_vec(void)
{
    return kern_vec_row(0); /* scalar always runs */
}
