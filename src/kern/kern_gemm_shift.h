/* kern_gemm_shift.h: the gradient of a kernel, dW (taps C,N) = patches(x)' dy, without gathering x
 * once for each tap: for windows that move by one pixel.
 *
 * Some rows of an image are laid out on a grid with its padding, pixel after pixel, and turned
 * once, so that pixels run along k. The patches of tap (ky,kx) are then the same numbers from
 * another start: ky dilation_h rows and kx dilation_w pixels further on. dy lies on the same grid,
 * zero where it has no pixel. A unit is as many rows as fit in cache. */
#ifndef KERN_GEMM_SHIFT_H
#define KERN_GEMM_SHIFT_H

#include "kern/kern_gemm_block.h"

struct gemm_shift {
    const struct gemm_block *block;
    const struct gemm_desc *d;
    int64_t width, height; /* of the grid of an image */
    int64_t rows;          /* of the output in a unit; the last of an image may have fewer */
    int64_t image_units;   /* units of an image */
    int64_t k;             /* of a unit, padded to k_unit */
    int64_t length;        /* pixels that its taps reach, from the first to the last */
    int64_t stride;        /* from channel to channel, elements */
};

/* False where the row, the types or the window do not allow it. */
bool kern_gemm_shift_init(struct gemm_shift *s, const struct gemm_block *b,
                          const struct gemm_desc *d);
/* Units of a run with k output pixels in all. */
int64_t kern_gemm_shift_units(const struct gemm_shift *s, int64_t k);
size_t kern_gemm_shift_bytes(const struct gemm_shift *s); /* scratch of a thread */
/* Adds unit `unit` to the sums of all tiles of dW; resume false: they start from it. */
void kern_gemm_shift_unit(const struct gemm_shift *s, const struct gemm_args *g, int64_t unit,
                          bool resume, char *scratch, float *sums);

#endif
