/* kern_gemm_grid.h: pictures laid out with their padding, pixel after pixel: what kern_gemm_shift.c
 * and kern_gemm_slide.c read. */
#ifndef KERN_GEMM_GRID_H
#define KERN_GEMM_GRID_H

#include "kern/kern_gemm.h"

/* A grid (height,width) of pixels of c channels; the picture in it is the caller's to fill. */
struct gemm_patches kern_gemm_grid_of(int64_t height, int64_t width, int64_t c);
/* The grid of the image that p gathers from, with its padding. */
struct gemm_patches kern_gemm_grid_image(const struct gemm_patches *p, int64_t height,
                                         int64_t width);
/* Pixels from .. from+n-1 of all images' grids, channels c .. c+n_c-1, of elements of `item` bytes:
 * to (n, n_c). */
void kern_gemm_grid_lay_out(const struct gemm_patches *grid, const void *image, size_t item,
                            int64_t from, int64_t n, int64_t c, int64_t n_c, char *to);

#endif
