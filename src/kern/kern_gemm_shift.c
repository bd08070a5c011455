/* kern_gemm_shift.c: see kern_gemm_shift.h. Holds no intrinsics.
 *
 * Where the grid has no pixel of the output, dy is 0 and x may be anything finite: a NaN in x near
 * an edge reaches the taps that do not see it, too, of its own channel.
 *
 * Scratch: [pixels as they are] [x, turned: (mr, stride)] [dy, packed: (N/nr) panels of k] */
#include "config.h"

#include "kern/kern_gemm_shift.h"

#include "kern/kern_gemm_grid.h"

#include <string.h>

enum { WANTED_K = 480, MOST_WIDTH = 256 };

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t round_up(int64_t a, int64_t unit)
{
    return (a + unit - 1) / unit * unit;
}

bool kern_gemm_shift_init(struct gemm_shift *s, const struct gemm_block *b,
                          const struct gemm_desc *d)
{
    const struct gemm_patches *p = &d->patches;
    memset(s, 0, sizeof(*s));
    if (!b->multiply_rows || !d->a_trans || p->kernel_h * p->kernel_w < 2 || p->stride_h != 1 ||
        p->stride_w != 1 || p->spread_h != 1 || p->spread_w != 1 || p->c % b->mr != 0 ||
        d->a != b->a_type || d->b != b->a_type || d->compute != b->a_type || d->b_is_weight)
        return false;
    s->block = b;
    s->d = d;
    s->width = p->out_w + (p->kernel_w - 1) * p->dilation_w;
    s->height = p->out_h + (p->kernel_h - 1) * p->dilation_h;
    if (s->width > MOST_WIDTH)
        return false;
    int64_t most = WANTED_K / s->width > 1 ? WANTED_K / s->width : 1;
    s->image_units = (p->out_h + most - 1) / most;
    s->rows = (p->out_h + s->image_units - 1) / s->image_units;
    s->k = round_up(s->rows * s->width, b->k_unit);
    s->length =
        s->k + (p->kernel_h - 1) * p->dilation_h * s->width + (p->kernel_w - 1) * p->dilation_w;
    /* an odd number of cache lines: rows of a tile in different sets */
    s->stride = round_up(s->length, 32);
    s->stride += s->stride / 32 % 2 == 0 ? 32 : 0;
    return true;
}

int64_t kern_gemm_shift_units(const struct gemm_shift *s, int64_t k)
{
    return k / (s->d->patches.out_h * s->d->patches.out_w) * s->image_units;
}

static size_t strip_bytes(const struct gemm_shift *s)
{
    int64_t wide = s->block->mr > s->block->nr ? s->block->mr : s->block->nr;
    return (size_t)(s->length * wide) * s->block->element;
}

static size_t turned_bytes(const struct gemm_shift *s)
{
    return (size_t)(s->block->mr * s->stride) * s->block->element;
}

static size_t panel_bytes(const struct gemm_shift *s)
{
    return (size_t)(s->k * s->block->nr) * s->block->element;
}

static int64_t panels(const struct gemm_shift *s)
{
    return (s->d->n + s->block->nr - 1) / s->block->nr;
}

static size_t aligned(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}

size_t kern_gemm_shift_bytes(const struct gemm_shift *s)
{
    return aligned(strip_bytes(s)) + aligned(turned_bytes(s)) +
           aligned(panel_bytes(s)) * (size_t)panels(s);
}

/* One unit while it is worked on. */
struct unit {
    const struct gemm_shift *s;
    const struct gemm_args *g;
    int64_t image, row, rows; /* of the output */
    char *strip, *turned, *packed;
};

static void pack_dy(const struct unit *u)
{
    const struct gemm_shift *s = u->s;
    const struct gemm_block *b = s->block;
    const struct gemm_patches *p = &s->d->patches;
    struct gemm_patches grid = kern_gemm_grid_of(s->height, s->width, s->d->n);
    int64_t from = (u->image * s->height + u->row) * s->width, n = u->rows * s->width;
    grid.h = p->out_h;
    grid.w = p->out_w;
    grid.pixel = u->g->ldb;
    for (int64_t i = 0; i < panels(s); i++) {
        int64_t w = i * b->nr, n_w = least(b->nr, s->d->n - w);
        char *panel = u->packed + aligned(panel_bytes(s)) * (size_t)i;
        struct gemm_operand o = {.data = u->strip,
                                 .ld = n_w,
                                 .dtype = b->a_type,
                                 .compute = b->a_type,
                                 .n_w = n_w,
                                 .n_k = n};
        kern_gemm_grid_lay_out(&grid, u->g->b, b->element, from, n, w, n_w, u->strip);
        b->pack_b(&o, panel, NULL);
        int64_t packed = round_up(n, b->k_unit);
        memset(panel + (size_t)(packed * b->nr) * b->element, 0,
               (size_t)((s->k - packed) * b->nr) * b->element);
    }
}

/* Channels c .. c+mr-1 of x, turned; what lies behind the unit's last row counts as 0. */
static void turn_x(const struct unit *u, int64_t c)
{
    const struct gemm_shift *s = u->s;
    const struct gemm_block *b = s->block;
    const struct gemm_patches *p = &s->d->patches;
    struct gemm_patches grid = kern_gemm_grid_image(p, s->height, s->width);
    int64_t reach = (u->rows + (p->kernel_h - 1) * p->dilation_h) * s->width;
    int64_t n = least(s->length, reach);
    struct gemm_operand o = {.data = u->strip,
                             .ld = b->mr,
                             .dtype = b->a_type,
                             .compute = b->a_type,
                             .n_w = b->mr,
                             .n_k = s->length};
    size_t pixel = (size_t)b->mr * b->element;
    kern_gemm_grid_lay_out(&grid, u->g->a, b->element, (u->image * s->height + u->row) * s->width,
                           n, c, b->mr, u->strip);
    memset(u->strip + (size_t)n * pixel, 0, (size_t)(s->length - n) * pixel);
    b->pack_rows(&o, u->turned, s->stride);
}

static void multiply(const struct unit *u, int64_t c, bool resume, float *sums)
{
    const struct gemm_shift *s = u->s;
    const struct gemm_block *b = s->block;
    const struct gemm_patches *p = &s->d->patches;
    int64_t taps = p->kernel_h * p->kernel_w, area = b->mr * b->nr;
    for (int64_t tap = 0; tap < taps; tap++) {
        int64_t ahead =
            tap / p->kernel_w * p->dilation_h * s->width + tap % p->kernel_w * p->dilation_w;
        int64_t tile = (tap * p->c + c) / b->mr * panels(s);
        for (int64_t i = 0; i < panels(s); i++) {
            struct gemm_tile t = {.rows = b->mr,
                                  .cols = (int)least(b->nr, s->d->n - i * b->nr),
                                  .n_k = s->k,
                                  .a = u->turned + (size_t)ahead * b->element,
                                  .b = u->packed + aligned(panel_bytes(s)) * (size_t)i,
                                  .sum = sums + (tile + i) * area,
                                  .resume = resume};
            b->multiply_rows(&t, s->stride);
        }
    }
}

void kern_gemm_shift_unit(const struct gemm_shift *s, const struct gemm_args *g, int64_t unit,
                          bool resume, char *scratch, float *sums)
{
    const struct gemm_patches *p = &s->d->patches;
    struct unit u = {.s = s, .g = g, .image = unit / s->image_units, .strip = scratch};
    u.row = unit % s->image_units * s->rows;
    u.rows = least(s->rows, p->out_h - u.row);
    u.turned = u.strip + aligned(strip_bytes(s));
    u.packed = u.turned + aligned(turned_bytes(s));
    pack_dy(&u);
    for (int64_t c = 0; c < p->c; c += s->block->mr) {
        turn_x(&u, c);
        multiply(&u, c, resume, sums);
    }
}
