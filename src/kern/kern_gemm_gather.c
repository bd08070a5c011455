/* kern_gemm_gather.c: see kern_gemm_gather.h. Holds no intrinsics: what is copied are runs of
 * channels, which the compiler moves in vectors.
 *
 * The rows of a block are cut into segments: neighbours in one row of the output. For one tap they
 * read pixels at one distance from each other, so that the edges are found once a segment. */
#include "config.h"

#include "kern/kern_gemm_gather.h"

#include "kern/kern_vec.h"

#include <string.h>

struct segment {
    const char *image; /* of its batch row */
    int64_t oy, ox;
    int row, n;
};

struct gather {
    const struct gemm_patches *p;
    size_t item;
    const struct gather_layout *layout;
    char *to;
    int n_segments;
    struct segment segments[GATHER_MOST_ROWS];
};

/* Columns side by side: from channel c of tap (ky,kx) on, over one or several pixels. */
struct run {
    int64_t ky, kx, c, pixels;
    size_t bytes;
    char *to; /* of the block's row 0 */
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void cut_rows(struct gather *g, const void *image, int64_t row, int64_t rows)
{
    const struct gemm_patches *p = g->p;
    int64_t pixels = p->out_h * p->out_w, b = row / pixels, oy = row % pixels / p->out_w;
    int64_t ox = row % p->out_w;
    size_t image_bytes = (size_t)(p->h * p->w * p->pixel) * g->item;
    g->n_segments = 0;
    for (int64_t at = 0; at < rows;) {
        int64_t n = least(p->out_w - ox, rows - at);
        g->segments[g->n_segments++] = (struct segment){
            (const char *)image + (size_t)b * image_bytes, oy, ox, (int)at, (int)n};
        at += n;
        ox = 0;
        if (++oy == p->out_h) {
            oy = 0;
            b++;
        }
    }
}

static inline void clear_run(char *to, size_t bytes)
{
    for (; bytes >= 16; bytes -= 16, to += 16)
        memset(to, 0, 16);
    for (; bytes >= 2; bytes -= 2, to += 2)
        memset(to, 0, 2);
}

static inline void clear_runs(char *to, size_t to_step, int n, size_t bytes)
{
    for (int i = 0; i < n; i++, to += to_step)
        clear_run(to, bytes);
}

/* The first i >= 0 with first + i step >= bound, at most n. */
static int reach(int64_t first, int64_t step, int64_t bound, int n)
{
    if (first >= bound)
        return 0;
    int64_t i = step == 1 ? bound - first : (bound - first + step - 1) / step;
    return (int)least(i, n);
}

/* The pixel at x of a direction where pixels are spread; -1 for a zero between them, or outside. */
static inline int64_t pixel_at(int64_t x, int64_t spread, int64_t size)
{
    if (spread > 1) { /* a division is dear here */
        if (x % spread != 0)
            return -1;
        x /= spread;
    }
    return x < size ? x : -1;
}

/* Row i of a segment by itself, pixel by pixel: at the edges, and where pixels are spread. */
static void gather_row(const struct gather *g, const struct segment *s, const struct run *r,
                       const char *line, int i)
{
    const struct gemm_patches *p = g->p;
    size_t left = r->bytes, pixel = (size_t)p->c * g->item, skip = (size_t)r->c * g->item;
    char *to = r->to + (size_t)((s->row + i) * g->layout->row_step) * g->item;
    for (int64_t kx = r->kx; left > 0; kx++, skip = 0) {
        int64_t x =
            pixel_at((s->ox + i) * p->stride_w - p->pad_w + kx * p->dilation_w, p->spread_w, p->w);
        size_t some = pixel - skip < left ? pixel - skip : left;
        if (x >= 0)
            kern_vec()->rows_copy(1, some, to, 0, line + (size_t)(x * p->pixel) * g->item + skip,
                                  0);
        else
            clear_run(to, some);
        to += some;
        left -= some;
    }
}

/* Pixels with zeros between them: every spread-th row of a segment has one, the others none. */
static void gather_spread(const struct gather *g, const struct segment *s, const struct run *r,
                          const char *line, int64_t x)
{
    const struct gemm_patches *p = g->p;
    size_t to_step = (size_t)g->layout->row_step * g->item, pixel = (size_t)p->pixel * g->item;
    char *to = r->to + (size_t)s->row * to_step;
    int64_t first = x >= 0 ? (p->spread_w - x % p->spread_w) % p->spread_w : -x;
    int64_t at = (x + first) / p->spread_w, n = 0;
    if (first < s->n && at < p->w)
        n = least((s->n - first - 1) / p->spread_w + 1, p->w - at);
    clear_runs(to, to_step, s->n, r->bytes);
    if (n > 0)
        kern_vec()->rows_copy(n, r->bytes, to + (size_t)first * to_step,
                              (size_t)p->spread_w * to_step,
                              line + (size_t)at * pixel + (size_t)r->c * g->item, pixel);
}

static void gather_segment(const struct gather *g, const struct segment *s, const struct run *r)
{
    const struct gemm_patches *p = g->p;
    size_t to_step = (size_t)g->layout->row_step * g->item;
    char *to = r->to + (size_t)s->row * to_step;
    int64_t y = pixel_at(s->oy * p->stride_h - p->pad_h + r->ky * p->dilation_h, p->spread_h, p->h);
    if (y < 0) {
        clear_runs(to, to_step, s->n, r->bytes);
        return;
    }
    const char *line = s->image + (size_t)(y * p->w * p->pixel) * g->item;
    int64_t x = s->ox * p->stride_w - p->pad_w + r->kx * p->dilation_w;
    if (p->spread_w > 1 && p->stride_w == 1 && r->pixels == 1) {
        gather_spread(g, s, r, line, x);
        return;
    }
    int in = s->n, out = s->n; /* rows in .. out-1 have all of their pixels side by side */
    if (p->spread_w == 1) {
        in = reach(x, p->stride_w, 0, s->n);
        out = reach(x + r->pixels - 1, p->stride_w, p->w, s->n);
        out = out > in ? out : in;
    }
    for (int i = 0; i < in; i++)
        gather_row(g, s, r, line, i);
    if (out > in)
        kern_vec()->rows_copy(out - in, r->bytes, to + (size_t)in * to_step, to_step,
                              line + ((x + in * p->stride_w) * p->pixel + r->c) * (int64_t)g->item,
                              (size_t)(p->stride_w * p->pixel) * g->item);
    for (int i = out; i < s->n; i++)
        gather_row(g, s, r, line, i);
}

void kern_gemm_gather(const struct gemm_patches *p, const void *image, size_t item,
                      const struct gemm_part *block, const struct gather_layout *layout, void *to)
{
    struct gather g = {.p = p, .item = item, .layout = layout, .to = to};
    /* the taps of one row of the kernel read neighbours */
    bool together = p->dilation_w == 1 && p->spread_w == 1 && p->pixel == p->c;
    cut_rows(&g, image, block->row, block->rows);
    for (int64_t at = 0; at < block->cols;) {
        int64_t col = block->col + at, tap = col / p->c, c = col % p->c, kx = tap % p->kernel_w;
        int64_t n = together ? (p->kernel_w - kx) * p->c - c : p->c - c;
        n = least(n, least(block->cols - at, layout->group - at % layout->group));
        int64_t place = at / layout->group * layout->group_step + at % layout->group;
        struct run r = {.ky = tap / p->kernel_w,
                        .kx = kx,
                        .c = c,
                        .pixels = (c + n - 1) / p->c + 1,
                        .bytes = (size_t)n * item,
                        .to = g.to + (size_t)place * item};
        for (int i = 0; i < g.n_segments; i++)
            gather_segment(&g, &g.segments[i], &r);
        at += n;
    }
}

size_t kern_gemm_gather_bytes(const struct gemm_block *b, const struct gemm_desc *d)
{
    return (size_t)(b->mr * b->k_chunk) * dtype_size(d->a);
}

/* Zeros behind the last k of a panel, before it is filled: at most one group is not full. */
static void pad_panel(const struct gemm_block *b, const struct gemm_operand *s, size_t item,
                      char *panel)
{
    int64_t group = b->a_layout.group, step = b->a_layout.row_step;
    int64_t padded = (s->n_k + b->k_unit - 1) / b->k_unit * b->k_unit;
    int64_t k = padded - 1, last = k / group * group;
    if (padded == s->n_k)
        return;
    char *at = panel + (size_t)(last / group * b->a_layout.group_step) * item;
    if (step == group) {
        memset(at, 0, (size_t)(b->mr * step) * item);
        return;
    }
    for (int row = 0; row < b->mr; row++)
        memset(at + (size_t)(row * step + s->n_k - last) * item, 0,
               (size_t)(padded - s->n_k) * item);
}

/* Straight into the panel, where it holds the elements as they are stored. */
static void into_panel(const struct gemm_block *b, const struct gemm_desc *d,
                       const struct gemm_operand *s, char *panel)
{
    size_t item = dtype_size(d->a), row_bytes = (size_t)b->a_layout.row_step * item;
    const struct gemm_part block = {s->w, s->n_w, s->k, s->n_k};
    const struct gather_layout layout = {b->a_layout.row_step, b->a_layout.group,
                                         b->a_layout.group_step};
    pad_panel(b, s, item, panel);
    kern_gemm_gather(&d->patches, s->data, item, &block, &layout, panel);
    for (int64_t k = 0; k < s->n_k && s->n_w < b->mr; k += layout.group) {
        char *group = panel + (size_t)(k / layout.group * layout.group_step) * item;
        size_t bytes = (size_t)least(layout.group, s->n_k - k) * item;
        for (int64_t row = s->n_w; row < b->mr; row++)
            memset(group + (size_t)row * row_bytes, 0, bytes);
    }
}

bool kern_gemm_gather_pack(const struct gemm_block *b, const struct gemm_desc *d,
                           const struct gemm_operand *s, void *strip, void *panel, void *low)
{
    bool as_stored = b->parts == 1 && d->a == b->a_type && d->compute == b->a_type;
    if (as_stored && !d->a_trans) {
        into_panel(b, d, s, panel);
        return false;
    }
    struct gemm_operand from = *s;
    struct gemm_part block = {s->w, s->n_w, s->k, s->n_k};
    if (d->a_trans)
        block = (struct gemm_part){s->k, s->n_k, s->w, s->n_w};
    const struct gather_layout layout = {block.cols, block.cols, block.cols};
    kern_gemm_gather(&d->patches, s->data, dtype_size(d->a), &block, &layout, strip);
    from.data = strip;
    from.ld = block.cols;
    from.w = from.k = 0;
    return b->pack_a(&from, panel, low);
}
