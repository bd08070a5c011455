/* kern_gemm_slide.c: see kern_gemm_slide.h. Holds no intrinsics.
 *
 * Scratch: [the unit's grid] [the sums of a tile] */
#include "config.h"

#include "kern/kern_gemm_slide.h"

#include "kern/kern_gemm_grid.h"

#include <string.h>

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t round_up(int64_t a, int64_t unit)
{
    return (a + unit - 1) / unit * unit;
}

enum { GRID_ELEMENTS = 24 << 10, MOST_TAPS = 64 }; /* 48 KiB: most of L1 */

bool kern_gemm_slide_init(struct gemm_slide *s, const struct gemm_block *b,
                          const struct gemm_desc *d)
{
    const struct gemm_patches *p = &d->patches;
    int64_t taps = p->kernel_h * p->kernel_w;
    memset(s, 0, sizeof(*s));
    if (!b->multiply_taps || d->a_trans || taps < 2 || taps > MOST_TAPS || p->stride_h != 1 ||
        p->stride_w != 1 || p->spread_h != 1 || p->spread_w != 1 || p->c % b->k_unit != 0 ||
        d->a != b->a_type || d->compute != b->a_type)
        return false;
    s->block = b;
    s->d = d;
    s->width = p->out_w + (p->kernel_w - 1) * p->dilation_w;
    s->height = p->out_h + (p->kernel_h - 1) * p->dilation_h;
    int64_t halo = (p->kernel_h - 1) * p->dilation_h;
    int64_t most = GRID_ELEMENTS / (s->width * p->c) - halo;
    if (most < 1)
        return false;
    s->image_units = (p->out_h + most - 1) / most;
    s->rows = (p->out_h + s->image_units - 1) / s->image_units;
    s->pixels =
        round_up(s->rows * s->width, b->mr) + halo * s->width + (p->kernel_w - 1) * p->dilation_w;
    return true;
}

int64_t kern_gemm_slide_units(const struct gemm_slide *s, int64_t m)
{
    return m / (s->d->patches.out_h * s->d->patches.out_w) * s->image_units;
}

static size_t grid_bytes(const struct gemm_slide *s)
{
    return ((size_t)(s->pixels * s->d->patches.c) * s->block->element + 63) & ~(size_t)63;
}

size_t kern_gemm_slide_bytes(const struct gemm_slide *s)
{
    return grid_bytes(s) + (size_t)(s->block->mr * s->block->nr) * sizeof(float);
}

/* Hands on the rows of a tile, from pixel `at` of the grid on, that are pixels of the output.
 * first: the row of C of the unit's first pixel. */
static void hand_on(const struct gemm_slide_job *j, int64_t at, int64_t end, int64_t first,
                    int64_t col, const struct gemm_tile *tile)
{
    const struct gemm_slide *s = j->slide;
    int64_t out_w = s->d->patches.out_w, nr = s->block->nr;
    for (int64_t i = 0; i < s->block->mr && at + i < end;) {
        int64_t y = (at + i) / s->width, x = (at + i) % s->width;
        int64_t n = least(s->block->mr - i, s->width - x), wanted = least(n, out_w - x);
        struct gemm_tile t = *tile;
        t.rows = (int)wanted;
        t.sum = tile->sum + i * nr;
        if (wanted > 0)
            j->done(j->context, first + y * out_w + x, col, &t);
        i += n;
    }
}

void kern_gemm_slide_unit(const struct gemm_slide_job *j, int64_t unit, char *scratch)
{
    const struct gemm_slide *s = j->slide;
    const struct gemm_block *b = s->block;
    const struct gemm_patches *p = &s->d->patches;
    int64_t image = unit / s->image_units, row = unit % s->image_units * s->rows;
    int64_t rows = least(s->rows, p->out_h - row), taps = p->kernel_h * p->kernel_w;
    int64_t reach = (rows + (p->kernel_h - 1) * p->dilation_h) * s->width;
    int64_t offsets[MOST_TAPS];
    struct gemm_patches grid = kern_gemm_grid_image(p, s->height, s->width);
    struct gemm_tile t = {.sum = (float *)(void *)(scratch + grid_bytes(s))};
    for (int64_t tap = 0; tap < taps; tap++)
        offsets[tap] =
            (tap / p->kernel_w * p->dilation_h * s->width + tap % p->kernel_w * p->dilation_w) *
            p->c;
    kern_gemm_grid_lay_out(&grid, j->image, b->element, (image * s->height + row) * s->width,
                           least(reach, s->pixels), 0, p->c, scratch);
    for (int64_t at = 0; at < rows * s->width; at += b->mr)
        for (int64_t col = 0; col < s->d->n; col += b->nr) {
            t.rows = (int)least(b->mr, rows * s->width - at);
            t.cols = (int)least(b->nr, s->d->n - col);
            t.a = scratch + (size_t)(at * p->c) * b->element;
            t.b = j->b + j->panel_bytes * (size_t)(col / b->nr);
            b->multiply_taps(&t, offsets, taps, p->c);
            hand_on(j, at, rows * s->width, (image * p->out_h + row) * p->out_w, col, &t);
        }
}
