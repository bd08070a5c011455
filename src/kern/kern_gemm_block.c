/* kern_gemm_block.c: see kern_gemm_block.h. Holds no intrinsics.
 *
 * Scratch: [packed B, where it is not packed ahead] [thread 0: A panel, sums] [thread 1: ...] */
#include "config.h"

#include "kern/kern_gemm_block.h"

#include "base/cpu.h"
#include "base/diag.h"
#include "base/par.h"
#include "kern/kern_gemm_gather.h"
#include "kern/kern_gemm_shift.h"
#include "kern/kern_gemm_slide.h"

#include <string.h>

enum {
    MOST_ROWS = 512, /* of a block of C */
    MOST_COLS = 1024,
    WANTED_BLOCKS = 32, /* enough for the threads to share evenly */
    FEW_ROWS = 4,       /* panels of A and of B: the proportions of a small block */
    FEW_COLS = 8,
    CHUNK_UNIT = 32, /* chunks of K start at multiples of it */
    MOST_NR = 64,    /* of all rows */
    STRIP_K = 64,    /* of a turned kernel, put in order at a time: a multiple of CHUNK_UNIT */
    MOST_SPLITS = 16,
    SPLIT_CHUNKS = 4,     /* of K, that are worth a part of their own */
    SPLIT_SUMS = 1 << 20, /* most elements of C, in all parts together */
    ALONE = 1 << 14,      /* elements of B that one thread packs faster than a team wakes up */
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t quotient_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int64_t round_up(int64_t a, int64_t unit)
{
    return quotient_up(a, unit) * unit;
}

/* --- how K is cut; depends on k alone, so that a panel packed ahead fits every run ------------ */

struct chunks {
    int64_t n, size; /* all of this size but the last */
    int64_t k, k_padded;
};

static struct chunks cut_k(const struct gemm_block *b, int64_t k)
{
    struct chunks c = {.k = k, .n = 1, .size = 0, .k_padded = 0};
    if (k > 0) {
        int64_t n = quotient_up(k, b->k_chunk);
        c.size = round_up(quotient_up(k, n), CHUNK_UNIT);
        c.n = quotient_up(k, c.size);
        c.k_padded = (c.n - 1) * c.size + round_up(k - (c.n - 1) * c.size, b->k_unit);
    }
    return c;
}

/* --- how C is cut ------------------------------------------------------------------------------
 */

struct grid {
    int64_t rows, cols; /* of a block: multiples of mr and nr */
    int64_t down, across;
};

/* Bytes of L2 that B's part of a block, and the sums of a block, may take. */
static int64_t share_of_l2(int parts)
{
    return (int64_t)cpu_cache(2) / parts;
}

static void even(struct grid *g, const struct gemm_block *b, int64_t m, int64_t n)
{
    g->rows = round_up(quotient_up(m, quotient_up(m, g->rows)), b->mr);
    g->cols = round_up(quotient_up(n, quotient_up(n, g->cols)), b->nr);
    g->down = quotient_up(m, g->rows);
    g->across = quotient_up(n, g->cols);
}

static struct grid cut_c(const struct gemm_block *b, const struct gemm_desc *d,
                         const struct chunks *k, int64_t m, int64_t n)
{
    int64_t bytes = (k->size > 0 ? k->size : 1) * b->parts * (int64_t)b->element;
    int64_t cols = share_of_l2(2) / bytes / b->nr * b->nr;
    struct grid g = {.rows = MOST_ROWS, .cols = least(cols, MOST_COLS)};
    if (g.cols < b->nr)
        g.cols = b->nr;
    even(&g, b, m, n);
    while (k->n > 1 && g.rows > b->mr && g.rows * g.cols * 4 > share_of_l2(4)) {
        g.rows = g.rows / 2;
        even(&g, b, m, n);
    }
    /* more rows re-use B, more columns re-use the packing of A: each down to its worth, first */
    int64_t rows_worth = FEW_ROWS * b->mr, cols_worth = FEW_COLS * b->nr;
    while (g.down * g.across < WANTED_BLOCKS && g.rows * g.cols * k->k > 2 * b->least_work) {
        int64_t r = g.rows / b->mr, c = g.cols / b->nr;
        if (r == 1 && (c == 1 || d->patches.kernel_h > 0))
            break; /* patches are too dear to be gathered for each block of columns again */
        if (c == 1 || (d->patches.kernel_h > 0 && r > 1) ||
            (r > 1 && g.rows * cols_worth >= g.cols * rows_worth))
            g.rows = (r + 1) / 2 * b->mr;
        else
            g.cols = (c + 1) / 2 * b->nr;
        even(&g, b, m, n);
    }
    return g;
}

/* --- memory ------------------------------------------------------------------------------------
 */

static size_t aligned(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}

static size_t panel_bytes(const struct gemm_block *b, const struct chunks *k)
{
    return (size_t)k->k_padded * (size_t)(b->nr * b->parts) * b->element;
}

static size_t packed_b_bytes(const struct gemm_block *b, int64_t n, int64_t k)
{
    struct chunks c = cut_k(b, k);
    int64_t panels = quotient_up(n, b->nr);
    size_t marks = b->parts > 1 ? aligned((size_t)(panels * c.n)) : 0;
    return (size_t)panels * panel_bytes(b, &c) + marks;
}

static size_t a_panel_bytes(const struct gemm_block *b)
{
    return aligned((size_t)(b->mr * b->a_stride) * b->element);
}

/* Sums of all tiles of a block where K has several chunks, else of two tiles. Not less for a run
 * with smaller sizes than the plan's: the grid's choices do not count here, only its limits. */
static size_t sum_bytes(const struct gemm_block *b, const struct gemm_desc *d)
{
    int64_t tiles = 2;
    if (d->k > b->k_chunk)
        tiles = quotient_up(least(d->m, MOST_ROWS + b->mr), b->mr) *
                    quotient_up(least(d->n, MOST_COLS + b->nr), b->nr) +
                1;
    return (size_t)tiles * (size_t)(b->mr * b->nr) * sizeof(float);
}

/* Parts of K that are summed for themselves, to be added up in order: for a small C with a long K,
 * as the gradient of a kernel is, where all of C reads the same stretch of K while it is in cache.
 * 1: K is not split. */
static int64_t splits(const struct gemm_desc *d, const struct chunks *k)
{
    int64_t n = least(least(MOST_SPLITS, k->n / SPLIT_CHUNKS), SPLIT_SUMS / (d->m * d->n));
    return n > 1 ? n : 1;
}

/* True where the product goes by shifted images; then units are shared out in `splits` parts. */
static bool shifts(struct gemm_shift *s, const struct gemm_block *b, const struct gemm_desc *d)
{
    struct chunks k = cut_k(b, d->k);
    return d->m > 0 && d->n > 0 && splits(d, &k) > 1 && kern_gemm_shift_init(s, b, d);
}

/* Elements of the sums of all tiles of C. */
static int64_t sums_of_c(const struct gemm_block *b, int64_t m, int64_t n)
{
    return round_up(m, b->mr) * round_up(n, b->nr);
}

static size_t split_bytes(const struct gemm_block *b, const struct gemm_desc *d)
{
    struct chunks k = cut_k(b, d->k);
    int64_t n = d->m > 0 && d->n > 0 ? splits(d, &k) : 1;
    return n > 1 ? (size_t)(n * sums_of_c(b, d->m, d->n)) * sizeof(float) : 0;
}

static size_t strip_bytes(const struct gemm_block *b, const struct gemm_desc *d)
{
    return d->patches.kernel_h > 0 ? aligned(kern_gemm_gather_bytes(b, d)) : 0;
}

static size_t thread_bytes(const struct gemm_block *b, const struct gemm_desc *d)
{
    struct gemm_shift s;
    struct gemm_slide slide;
    if (shifts(&s, b, d))
        return aligned(kern_gemm_shift_bytes(&s));
    if (kern_gemm_slide_init(&slide, b, d))
        return aligned(kern_gemm_slide_bytes(&slide));
    return a_panel_bytes(b) * (size_t)b->parts + strip_bytes(b, d) + sum_bytes(b, d);
}

size_t kern_gemm_block_packed_bytes(const struct gemm_plan *p)
{
    return packed_b_bytes(p->row->block, p->desc.n, p->desc.k);
}

size_t kern_gemm_block_scratch_bytes(const struct gemm_plan *p)
{
    const struct gemm_block *b = p->row->block;
    struct gemm_shift s;
    bool no_b = p->desc.b_is_weight || shifts(&s, b, &p->desc);
    size_t shared = no_b ? 0 : packed_b_bytes(b, p->desc.n, p->desc.k);
    return shared + split_bytes(b, &p->desc) + thread_bytes(b, &p->desc) * (size_t)p->threads;
}

/* --- packing B ---------------------------------------------------------------------------------
 */

struct packed_b {
    const struct gemm_block *block;
    struct chunks k;
    int64_t panels;
    char *data;
    uint8_t *marks; /* (panels, chunks): inf or NaN inside; rows with two parts only */
};

static struct packed_b packed_b(const struct gemm_block *b, int64_t n, int64_t k, void *data)
{
    struct packed_b out = {b, cut_k(b, k), quotient_up(n, b->nr), data, NULL};
    if (b->parts > 1)
        out.marks = (uint8_t *)data + (size_t)out.panels * panel_bytes(b, &out.k);
    return out;
}

/* The first part of a chunk of a panel; the second lies panel_bytes / 2 behind. */
static char *chunk_of_b(const struct packed_b *b, int64_t panel, int64_t chunk)
{
    size_t at = (size_t)(chunk * b->k.size * b->block->nr) * b->block->element;
    return b->data + (size_t)panel * panel_bytes(b->block, &b->k) + at;
}

struct pack_job {
    struct packed_b b;
    struct gemm_operand source;
    int64_t n;
    int64_t tap_k; /* k of a tap, where B is a turned kernel; else 0 */
};

/* Column w, k .. k+n-1 of a turned kernel, which is stored (taps,N,tap_k). */
static void take_turned(const struct pack_job *job, int64_t w, int64_t k, int64_t n, char *to)
{
    const struct gemm_operand *s = &job->source;
    size_t item = dtype_size(s->dtype);
    int64_t taps = job->b.k.k / job->tap_k;
    for (int64_t end = k + n, some; k < end; k += some, to += (size_t)some * item) {
        int64_t tap = k / job->tap_k, at = k % job->tap_k;
        some = least(job->tap_k - at, end - k);
        at += ((taps - 1 - tap) * job->n + w) * s->ld;
        memcpy(to, (const char *)s->data + (size_t)at * item, (size_t)some * item);
    }
}

/* What pack_b does: a strip at a time is put in order. */
static bool pack_turned(const struct pack_job *job, const struct gemm_operand *s, char *to,
                        char *low)
{
    const struct gemm_block *b = job->b.block;
    float strip[MOST_NR * STRIP_K];
    bool special = false;
    for (int64_t k = 0; k < s->n_k; k += STRIP_K) {
        struct gemm_operand part = {.data = strip,
                                    .ld = STRIP_K,
                                    .dtype = s->dtype,
                                    .compute = s->compute,
                                    .k_inner = true,
                                    .n_w = s->n_w,
                                    .n_k = least(STRIP_K, s->n_k - k)};
        size_t ahead = (size_t)(k * b->nr) * b->element;
        for (int64_t w = 0; w < s->n_w; w++)
            take_turned(job, s->w + w, s->k + k, part.n_k,
                        (char *)strip + (size_t)(w * STRIP_K) * dtype_size(s->dtype));
        special |= b->pack_b(&part, to + ahead, low ? low + ahead : NULL);
    }
    return special;
}

/* k from .. to-1 of one panel; they lie in one chunk. */
static void pack_run_of_k(const struct pack_job *job, int64_t panel, int64_t chunk, int64_t from,
                          int64_t to)
{
    const struct packed_b *b = &job->b;
    struct gemm_operand s = job->source;
    s.w = panel * b->block->nr;
    s.n_w = least(job->n - s.w, b->block->nr);
    s.k = from;
    s.n_k = to - from;
    size_t ahead = (size_t)((from - chunk * b->k.size) * b->block->nr) * b->block->element;
    char *at = chunk_of_b(b, panel, chunk) + ahead;
    char *low = b->block->parts > 1 ? at + panel_bytes(b->block, &b->k) / 2 : NULL;
    bool special = job->tap_k > 0 ? pack_turned(job, &s, at, low) : b->block->pack_b(&s, at, low);
    if (special && b->marks) /* several threads may set a mark */
        __atomic_store_n(&b->marks[panel * b->k.n + chunk], 1, __ATOMIC_RELAXED);
}

static void pack_piece(void *context, int64_t index)
{
    const struct pack_job *job = context;
    const struct chunks *k = &job->b.k;
    int64_t panel = index / k->n, chunk = index % k->n, from = chunk * k->size;
    pack_run_of_k(job, panel, chunk, from, least(k->k, from + k->size));
}

static void clear_marks(const struct packed_b *b)
{
    if (b->marks)
        memset(b->marks, 0, (size_t)(b->panels * b->k.n));
}

static void pack_all(const struct pack_job *job)
{
    int64_t pieces = job->b.panels * job->b.k.n;
    clear_marks(&job->b);
    if (job->n * job->b.k.k > ALONE) {
        par_for(pieces, pack_piece, (void *)job);
        return;
    }
    for (int64_t i = 0; i < pieces; i++)
        pack_piece((void *)job, i);
}

static struct gemm_operand operand_b(const struct gemm_desc *d, const void *b, int64_t ldb)
{
    return (struct gemm_operand){
        .data = b, .ld = ldb, .dtype = d->b, .compute = d->compute, .k_inner = d->b_trans};
}

static int64_t tap_k(const struct gemm_desc *d)
{
    return d->b_taps > 0 ? d->k / d->b_taps : 0;
}

static struct pack_job pack_job(const struct gemm_plan *p, const void *b, int64_t ldb, void *packed)
{
    return (struct pack_job){.b = packed_b(p->row->block, p->desc.n, p->desc.k, packed),
                             .source = operand_b(&p->desc, b, ldb),
                             .n = p->desc.n,
                             .tap_k = tap_k(&p->desc)};
}

void kern_gemm_block_pack(const struct gemm_plan *p, const void *b, int64_t ldb, void *packed)
{
    struct pack_job job = pack_job(p, b, ldb, packed);
    pack_all(&job);
}

void kern_gemm_block_pack_begin(const struct gemm_plan *p, void *packed)
{
    struct packed_b b = packed_b(p->row->block, p->desc.n, p->desc.k, packed);
    BUG_IF(GEMM_PACK_UNIT % b.block->nr != 0 || GEMM_PACK_UNIT % b.block->k_unit != 0);
    clear_marks(&b);
}

void kern_gemm_block_pack_part(const struct gemm_plan *p, const void *b, int64_t ldb, void *packed,
                               const struct gemm_part *part)
{
    struct pack_job job = pack_job(p, b, ldb, packed);
    bool turned = p->desc.b_trans;
    int64_t nr = job.b.block->nr, size = job.b.k.size;
    int64_t w = turned ? part->row : part->col, w_end = w + (turned ? part->rows : part->cols);
    int64_t k = turned ? part->col : part->row, k_end = k + (turned ? part->cols : part->rows);
    for (int64_t panel = w / nr; panel * nr < w_end; panel++)
        for (int64_t from = k, to; from < k_end; from = to) {
            int64_t chunk = from / size;
            to = least(k_end, (chunk + 1) * size);
            pack_run_of_k(&job, panel, chunk, from, to);
        }
}

/* --- the product -------------------------------------------------------------------------------
 */

struct job {
    const struct gemm_desc *d;
    const struct gemm_args *g;
    struct packed_b b;
    struct grid grid;
    struct gemm_operand a;
    struct gemm_out out;
    int64_t splits; /* of K; then the grid is not used */
    float *partial; /* (splits, sums of C) */
    char *scratch;  /* of thread 0 */
    size_t scratch_step;
};

/* One block of C, on one thread. */
struct work {
    const struct job *job;
    int64_t row, row_end, col, col_end;
    int64_t first, end; /* chunks of K */
    char *a, *a_low, *strip;
    float *sums;
};

static void finish(const struct job *job, int64_t row, int64_t col, const struct gemm_tile *t)
{
    const struct gemm_block *b = job->b.block;
    if (!kern_gemm_act_is_curved(job->d->act)) {
        b->store(&job->out, row, col, t);
        return;
    }
    struct gemm_out narrow = job->out;
    b->merge(&job->out, row, col, t);
    narrow.add = false;
    narrow.bias = NULL;
    if (job->g->pre) {
        narrow.c = job->g->pre;
        b->store(&narrow, row, col, t);
        narrow.c = job->out.c;
    }
    kern_gemm_activate(job->d->act, (int64_t)t->rows * b->nr, t->sum);
    b->store(&narrow, row, col, t);
}

/* One panel of A (rows from `row`) against the block's columns of B, for one chunk of K. */
static void one_panel(const struct work *w, int64_t chunk, int64_t row)
{
    const struct job *job = w->job;
    const struct packed_b *b = &job->b;
    int mr = b->block->mr, nr = b->block->nr;
    bool last = chunk == b->k.n - 1 && job->splits == 1;
    struct gemm_operand s = job->a;
    s.w = row;
    s.n_w = least(w->row_end - row, mr);
    s.k = chunk * b->k.size;
    s.n_k = least(b->k.k - s.k, b->k.size);
    bool special = job->d->patches.kernel_h > 0
                       ? kern_gemm_gather_pack(b->block, job->d, &s, w->strip, w->a, w->a_low)
                       : b->block->pack_a(&s, w->a, w->a_low);

    struct gemm_tile t = {.rows = (int)s.n_w,
                          .n_k = round_up(s.n_k, b->block->k_unit),
                          .a = w->a,
                          .a_low = w->a_low,
                          .resume = chunk > w->first};
    int64_t tiles_across = (w->col_end - w->col + nr - 1) / nr;
    int64_t tile = b->k.n > 1 ? (row - w->row) / mr * tiles_across : 0;
    struct gemm_tile before = t;
    for (int64_t col = w->col; col < w->col_end; col += nr) {
        const char *panel = chunk_of_b(b, col / nr, chunk);
        t.cols = (int)least(w->col_end - col, nr);
        t.b = panel;
        t.sum = w->sums + tile * mr * nr;
        if (b->marks) {
            t.b_low = panel + panel_bytes(b->block, &b->k) / 2;
            t.special = special || b->marks[col / nr * b->k.n + chunk];
        }
        b->block->multiply(&t);
        /* the tile before this one: its sums are long out of the multiplier */
        if (last && col > w->col)
            finish(job, row, col - nr, &before);
        before = t;
        tile = b->k.n > 1 ? tile + 1 : !tile;
    }
    if (last)
        finish(job, row, w->col + (tiles_across - 1) * nr, &before);
}

/* A part of C, for some chunks of K, on this thread; sums: NULL for the thread's own. */
static void run_block(struct work *w, float *sums)
{
    const struct job *job = w->job;
    const struct gemm_block *b = job->b.block;
    char *scratch = job->scratch + (size_t)par_thread() * job->scratch_step;
    w->a = scratch;
    w->a_low = b->parts > 1 ? scratch + a_panel_bytes(b) : NULL;
    w->strip = scratch + a_panel_bytes(b) * (size_t)b->parts;
    w->sums = sums ? sums : (float *)(void *)(w->strip + strip_bytes(b, job->d));
    if (b->begin)
        b->begin();
    for (int64_t chunk = w->first; chunk < w->end; chunk++)
        for (int64_t row = w->row; row < w->row_end; row += b->mr)
            one_panel(w, chunk, row);
    if (b->end)
        b->end();
}

static void one_block(void *context, int64_t index)
{
    const struct job *job = context;
    /* neighbours in the order share their columns of B */
    int64_t across = index / job->grid.down, down = index % job->grid.down;
    struct work w = {.job = job,
                     .row = down * job->grid.rows,
                     .col = across * job->grid.cols,
                     .end = job->b.k.n};
    w.row_end = least(job->g->m, w.row + job->grid.rows);
    w.col_end = least(job->g->n, w.col + job->grid.cols);
    run_block(&w, NULL);
}

static void one_split(void *context, int64_t index)
{
    const struct job *job = context;
    const struct gemm_args *g = job->g;
    struct work w = {.job = job, .row_end = g->m, .col_end = g->n};
    w.first = job->b.k.n * index / job->splits;
    w.end = job->b.k.n * (index + 1) / job->splits;
    run_block(&w, job->partial + index * sums_of_c(job->b.block, g->m, g->n));
}

/* Adds up one tile of all parts, in their order, and stores it. */
static void join_tile(void *context, int64_t index)
{
    const struct job *job = context;
    const struct gemm_block *b = job->b.block;
    int64_t across = quotient_up(job->g->n, b->nr), area = b->mr * b->nr;
    int64_t row = index / across * b->mr, col = index % across * b->nr;
    int64_t step = sums_of_c(b, job->g->m, job->g->n);
    struct gemm_tile t = {.rows = (int)least(job->g->m - row, b->mr),
                          .cols = (int)least(job->g->n - col, b->nr),
                          .sum = job->partial + index * area};
    for (int64_t p = 1; p < job->splits; p++)
        for (int64_t i = 0; i < area; i++)
            t.sum[i] += t.sum[p * step + i];
    finish(job, row, col, &t);
}

static void done_tile(void *context, int64_t row, int64_t col, const struct gemm_tile *t)
{
    finish(context, row, col, t);
}

static void one_slide(void *context, int64_t unit)
{
    const struct gemm_slide_job *s = context;
    const struct job *job = s->context;
    const struct gemm_block *b = job->b.block;
    b->begin();
    kern_gemm_slide_unit(s, unit, job->scratch + (size_t)par_thread() * job->scratch_step);
    b->end();
}

static void run_slide(struct job *job, const struct gemm_slide *slide)
{
    struct gemm_slide_job s = {.slide = slide,
                               .image = job->g->a,
                               .b = job->b.data,
                               .panel_bytes = panel_bytes(job->b.block, &job->b.k),
                               .done = done_tile,
                               .context = job};
    par_for(kern_gemm_slide_units(slide, job->g->m), one_slide, &s);
}

static void join(struct job *job)
{
    const struct gemm_block *b = job->b.block;
    par_for(sums_of_c(b, job->g->m, job->g->n) / (b->mr * b->nr), join_tile, job);
}

struct shift_job {
    const struct job *job;
    const struct gemm_shift *shift;
    int64_t units;
};

static void one_shift(void *context, int64_t index)
{
    const struct shift_job *s = context;
    const struct job *job = s->job;
    const struct gemm_block *b = job->b.block;
    char *scratch = job->scratch + (size_t)par_thread() * job->scratch_step;
    int64_t first = s->units * index / job->splits, end = s->units * (index + 1) / job->splits;
    float *sums = job->partial + index * sums_of_c(b, job->g->m, job->g->n);
    b->begin();
    for (int64_t unit = first; unit < end; unit++)
        kern_gemm_shift_unit(s->shift, job->g, unit, unit > first, scratch, sums);
    b->end();
}

static void run_shift(struct job *job, const struct gemm_shift *shift)
{
    struct shift_job s = {job, shift, kern_gemm_shift_units(shift, job->g->k)};
    job->partial = (float *)(void *)job->scratch;
    job->scratch += split_bytes(job->b.block, job->d);
    job->splits = least(splits(job->d, &job->b.k), s.units);
    par_for(job->splits, one_shift, &s);
    join(job);
}

static void run_split(struct job *job)
{
    par_for(job->splits, one_split, job);
    join(job);
}

void kern_gemm_block_run(const struct gemm_plan *p, const struct gemm_args *args)
{
    const struct gemm_desc *d = &p->desc;
    const struct gemm_block *b = p->row->block;
    bool ahead = d->b_is_weight;
    struct job job = {.d = d, .g = args, .scratch = args->scratch};
    job.b = packed_b(b, args->n, args->k, ahead ? (void *)args->b : args->scratch);
    job.splits = splits(d, &job.b.k);
    job.grid = cut_c(b, d, &job.b.k, args->m, args->n);
    job.a = (struct gemm_operand){.data = args->a,
                                  .ld = args->lda,
                                  .dtype = d->a,
                                  .compute = d->compute,
                                  .k_inner = !d->a_trans};
    job.out = (struct gemm_out){.c = args->c,
                                .ldc = args->ldc,
                                .dtype = d->c,
                                .add = args->add,
                                .relu = d->act == GEMM_ACT_RELU,
                                .bias = d->bias ? args->bias : NULL};
    job.scratch_step = thread_bytes(b, d);
    struct gemm_shift shift;
    if (shifts(&shift, b, d)) {
        run_shift(&job, &shift);
        return;
    }
    if (!ahead) {
        struct pack_job pack = {job.b, operand_b(d, args->b, args->ldb), args->n, tap_k(d)};
        pack_all(&pack);
        job.scratch += packed_b_bytes(b, args->n, args->k);
    }
    struct gemm_slide slide;
    if (kern_gemm_slide_init(&slide, b, d)) {
        run_slide(&job, &slide);
        return;
    }
    if (job.splits > 1) {
        job.partial = (float *)(void *)job.scratch;
        job.scratch += split_bytes(b, d);
        run_split(&job);
        return;
    }
    par_for(job.grid.down * job.grid.across, one_block, &job);
}
