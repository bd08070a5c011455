/* kern_gemm_grid.c: see kern_gemm_grid.h. */
#include "config.h"

#include "kern/kern_gemm_grid.h"

#include "kern/kern_gemm_gather.h"

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Pixels from .. from+n-1 of an image's grid, channels c .. c+n_c-1: (n, n_c). */
void kern_gemm_grid_lay_out(const struct gemm_patches *grid, const void *image, size_t item,
                            int64_t from, int64_t n, int64_t c, int64_t n_c, char *to)
{
    const struct gather_layout layout = {n_c, n_c, n_c};
    for (int64_t some; n > 0; n -= some, from += some, to += (size_t)(some * n_c) * item) {
        some = least(n, GATHER_MOST_ROWS);
        const struct gemm_part block = {from, some, c, n_c};
        kern_gemm_gather(grid, image, item, &block, &layout, to);
    }
}

/* A grid (height,width): a window of one pixel moves over it. The picture is the caller's. */
struct gemm_patches kern_gemm_grid_of(int64_t height, int64_t width, int64_t c)
{
    return (struct gemm_patches){.c = c,
                                 .pixel = c,
                                 .out_h = height,
                                 .out_w = width,
                                 .kernel_h = 1,
                                 .kernel_w = 1,
                                 .stride_h = 1,
                                 .stride_w = 1,
                                 .dilation_h = 1,
                                 .dilation_w = 1,
                                 .spread_h = 1,
                                 .spread_w = 1};
}

/* The image with its padding. */
struct gemm_patches kern_gemm_grid_image(const struct gemm_patches *p, int64_t height,
                                         int64_t width)
{
    struct gemm_patches grid = kern_gemm_grid_of(height, width, p->c);
    grid.h = p->h;
    grid.w = p->w;
    grid.pixel = p->pixel;
    grid.pad_h = p->pad_h;
    grid.pad_w = p->pad_w;
    return grid;
}
