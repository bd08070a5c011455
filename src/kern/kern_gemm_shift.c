/* kern_gemm_shift.c: see kern_gemm_shift.h. Holds no intrinsics.
 *
 * Where the grid has no pixel of the output, dy is 0 and x may be anything finite: a NaN in x near
 * an edge reaches the taps that do not see it, too, of its own channel.
 *
 * Scratch: [pixels as they are] [x, turned: (mr, stride)] [dy, packed: (N/nr) panels of k] */
#include "config.h"

#include "kern/kern_gemm_shift.h"

#include "kern/kern_gemm_gather.h"

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

/* Pixels from .. from+n-1 of an image's grid, channels c .. c+n_c-1: (n, n_c). */
static void lay_out(const struct gemm_patches *grid, const void *image, size_t item, int64_t from,
                    int64_t n, int64_t c, int64_t n_c, char *to)
{
    const struct gather_layout layout = {n_c, n_c, n_c};
    for (int64_t some; n > 0; n -= some, from += some, to += (size_t)(some * n_c) * item) {
        some = least(n, GATHER_MOST_ROWS);
        const struct gemm_part block = {from, some, c, n_c};
        kern_gemm_gather(grid, image, item, &block, &layout, to);
    }
}

/* A grid (height,width): a window of one pixel moves over it. The picture is the caller's. */
static struct gemm_patches grid_of(int64_t height, int64_t width, int64_t c)
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
static struct gemm_patches padded_image(const struct gemm_patches *p, int64_t height, int64_t width)
{
    struct gemm_patches grid = grid_of(height, width, p->c);
    grid.h = p->h;
    grid.w = p->w;
    grid.pixel = p->pixel;
    grid.pad_h = p->pad_h;
    grid.pad_w = p->pad_w;
    return grid;
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
    struct gemm_patches grid = grid_of(s->height, s->width, s->d->n);
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
        lay_out(&grid, u->g->b, b->element, from, n, w, n_w, u->strip);
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
    struct gemm_patches grid = padded_image(p, s->height, s->width);
    int64_t reach = (u->rows + (p->kernel_h - 1) * p->dilation_h) * s->width;
    int64_t n = least(s->length, reach);
    struct gemm_operand o = {.data = u->strip,
                             .ld = b->mr,
                             .dtype = b->a_type,
                             .compute = b->a_type,
                             .n_w = b->mr,
                             .n_k = s->length};
    size_t pixel = (size_t)b->mr * b->element;
    lay_out(&grid, u->g->a, b->element, (u->image * s->height + u->row) * s->width, n, c, b->mr,
            u->strip);
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

/* --- the other way ---------------------------------------------------------------------------
 */

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
    return aligned((size_t)(s->pixels * s->d->patches.c) * s->block->element);
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
    struct gemm_patches grid = padded_image(p, s->height, s->width);
    struct gemm_tile t = {.sum = (float *)(void *)(scratch + grid_bytes(s))};
    for (int64_t tap = 0; tap < taps; tap++)
        offsets[tap] =
            (tap / p->kernel_w * p->dilation_h * s->width + tap % p->kernel_w * p->dilation_w) *
            p->c;
    lay_out(&grid, j->image, b->element, (image * s->height + row) * s->width,
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
