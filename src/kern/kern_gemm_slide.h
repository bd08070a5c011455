/* kern_gemm_slide.h: a convolution that reads its image in place: C = patches(x) . B, for windows
 * that move by one pixel.
 *
 * Some rows of an image are laid out with their padding (kern_gemm_grid.h). There the rows of A for
 * one tap are pixels side by side: tiles are loaded from there, and A is neither gathered once for
 * each tap nor packed. Where the grid has no pixel of the output, rows of a tile are not stored. */
#ifndef KERN_GEMM_SLIDE_H
#define KERN_GEMM_SLIDE_H

#include "kern/kern_gemm_block.h"

struct gemm_slide {
    const struct gemm_block *block;
    const struct gemm_desc *d;
    int64_t width, height, rows, image_units; /* as in kern_gemm_shift.h */
    int64_t pixels;                           /* of a unit's grid, and behind it, that are read */
};

bool kern_gemm_slide_init(struct gemm_slide *s, const struct gemm_block *b,
                          const struct gemm_desc *d);
int64_t kern_gemm_slide_units(const struct gemm_slide *s, int64_t m);
size_t kern_gemm_slide_bytes(const struct gemm_slide *s);
/* One unit. b: the panels of B, panel_bytes apart. done gets each finished tile, or a part of it:
 * rows row .. of C from column col on. */
struct gemm_slide_job {
    const struct gemm_slide *slide;
    const void *image;
    const char *b;
    size_t panel_bytes;
    void (*done)(void *context, int64_t row, int64_t col, const struct gemm_tile *t);
    void *context;
};
void kern_gemm_slide_unit(const struct gemm_slide_job *j, int64_t unit, char *scratch);

#endif
