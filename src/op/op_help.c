/* op_help.c: what forward() and backward() of all ops share: views of tensors, loops over tiles on
 * all threads, column sums. See op.h.
 * Invariant: work is cut by the size of the problem only, and every sum has a fixed order. */
#include "config.h"

#include "base/par.h"
#include "kern/kern_vec.h"
#include "op/op.h"

#include <string.h>

/* ---- views ---- */

struct view op_view(const struct op_run *r, int tensor)
{
    const struct tensor *t = graph_tensor(r->graph, tensor);
    return (struct view){t->data, t->dtype};
}

float *op_f32(const struct op_run *r, int tensor)
{
    const struct tensor *t = graph_tensor(r->graph, tensor);
    BUG_IF(t->dtype != DTYPE_F32);
    return t->data;
}

static struct view grad_view(const struct op_run *r, int tensor)
{
    int grad = graph_tensor(r->graph, tensor)->grad;
    return grad == TENSOR_NONE ? (struct view){NULL, DTYPE_F32} : op_view(r, grad);
}

struct view op_d_in(const struct op_run *r, const struct node *n, int i)
{
    return grad_view(r, n->in[i]);
}

struct view op_d_out(const struct op_run *r, const struct node *n)
{
    return grad_view(r, n->out);
}

float *op_d_param(const struct op_run *r, const struct node *n, int i)
{
    return op_f32(r, graph_tensor(r->graph, n->param[i])->grad);
}

int64_t op_elements(const struct op_run *r, int tensor)
{
    const struct tensor *t = graph_tensor(r->graph, tensor);
    return t->batched ? r->rows * tensor_row_elements(t) : tensor_elements(t);
}

struct rng_key op_rng(const struct op_run *r, const struct node *n)
{
    return rng_key(r->seed, RNG_DROPOUT, rng_name(n->name), r->draw);
}

/* ---- tiles ---- */

/* Tiles that one thread takes at a time: less is not worth waking a thread. */
enum { BLOCK_TILES = 16, BLOCK = BLOCK_TILES * KERN_TILE };

struct tiles_job {
    int64_t n;
    void (*body)(void *context, int64_t at, int64_t n);
    void *context;
};

static void tiles_block(void *context, int64_t block)
{
    const struct tiles_job *j = context;
    int64_t end = (block + 1) * BLOCK < j->n ? (block + 1) * BLOCK : j->n;
    for (int64_t at = block * BLOCK; at < end; at += KERN_TILE)
        j->body(j->context, at, end - at < KERN_TILE ? end - at : KERN_TILE);
}

void op_tiles(int64_t n, void (*body)(void *context, int64_t at, int64_t n), void *context)
{
    struct tiles_job job = {n, body, context};
    par_for((n + BLOCK - 1) / BLOCK, tiles_block, &job);
}

/* Where to compute n elements of v: its own memory where that is FP32, else the tile. */
static float *tile_of(struct view v, int64_t at, float *tile)
{
    return v.dtype == DTYPE_F32 ? (float *)v.data + at : tile;
}

struct copy_job {
    struct view to, from;
};

static void add_tile(void *context, int64_t at, int64_t n)
{
    const struct copy_job *j = context;
    float tile[KERN_TILE];
    kern_store_add(j->to, at, n, kern_load(j->from, at, n, tile));
}

void op_copy(struct view to, struct view from, int64_t n, bool add)
{
    struct copy_job job = {to, from};
    if (add)
        op_tiles(n, add_tile, &job);
    else
        kern_cast_all(to.dtype, to.data, from.dtype, from.data, n);
}

/* ---- elementwise ops ---- */

struct map_job {
    const void *attrs;
    struct view x, dy, out;
    bool add;
    enum gemm_act act; /* undo only */
    void (*f)(const void *attrs, int64_t n, const float *x, float *out);
    void (*g)(const void *attrs, int64_t n, const float *saved, const float *dy, float *out);
};

static void map_tile(void *context, int64_t at, int64_t n)
{
    const struct map_job *j = context;
    float in[KERN_TILE], tile[KERN_TILE];
    float *out = tile_of(j->out, at, tile);
    j->f(j->attrs, n, kern_load(j->x, at, n, in), out);
    kern_store(j->out, at, n, out);
}

void op_map(const struct op_run *r, const struct node *n,
            void (*f)(const void *attrs, int64_t n, const float *x, float *out))
{
    struct map_job job = {
        .attrs = n->attrs.at, .x = op_view(r, n->in[0]), .out = op_view(r, n->out), .f = f};
    op_tiles(op_elements(r, n->out), map_tile, &job);
}

static void map_grad_tile(void *context, int64_t at, int64_t n)
{
    const struct map_job *j = context;
    float saved[KERN_TILE], dy[KERN_TILE], tile[KERN_TILE];
    float *out = j->add ? tile : tile_of(j->out, at, tile);
    j->g(j->attrs, n, kern_load(j->x, at, n, saved), kern_load(j->dy, at, n, dy), out);
    (j->add ? kern_store_add : kern_store)(j->out, at, n, out);
}

void op_map_grad(const struct op_run *r, const struct node *n,
                 void (*g)(const void *attrs, int64_t n, const float *saved, const float *dy,
                           float *out))
{
    int saved = n->op->reads & OP_READS_OUT ? n->out : n->in[0];
    struct map_job job = {.attrs = n->attrs.at,
                          .x = op_view(r, saved),
                          .dy = op_d_out(r, n),
                          .out = op_d_in(r, n, 0),
                          .add = n->grad_adds[0],
                          .g = g};
    if (job.out.data)
        op_tiles(op_elements(r, n->out), map_grad_tile, &job);
}

static void undo_tile(void *context, int64_t at, int64_t n)
{
    const struct map_job *j = context;
    float saved[KERN_TILE], tile[KERN_TILE];
    float *dy = tile_of(j->dy, at, tile);
    if (dy == tile)
        kern_load(j->dy, at, n, tile);
    kern_gemm_act_grad(j->act, n, kern_load(j->x, at, n, saved), dy, dy);
    kern_store(j->dy, at, n, dy);
}

struct view op_undo_act(const struct op_run *r, const struct node *n)
{
    int saved = kern_gemm_act_reads_out((enum gemm_act)n->act) ? n->out : n->pre;
    struct map_job job = {.dy = op_d_out(r, n), .act = (enum gemm_act)n->act};
    if (n->act == GEMM_ACT_NONE)
        return job.dy;
    job.x = op_view(r, saved);
    op_tiles(op_elements(r, n->out), undo_tile, &job);
    return job.dy;
}

/* ---- column sums ---- */

/* Rows are added up in FP32 in groups, the groups in FP64: no running sum gets long enough to stop
 * growing or to lose its low digits. */
enum { SUM_WIDTH = 256, SUM_GROUP = 64, SUM_PARTS = 16, SUM_PART_ROWS = 512 };

struct sum_job {
    struct view x;
    int64_t rows, columns, parts;
    float *out;
    bool add;
    double (*partial)[SUM_WIDTH]; /* (parts, columns), where columns <= SUM_WIDTH */
};

/* total (width) = sum over rows from .. to-1 of columns at .. at+width-1 */
static void sum_rows(const struct sum_job *j, int64_t from, int64_t to, int64_t at, int64_t width,
                     double *total)
{
    const struct vec_row *vec = kern_vec();
    float group[SUM_WIDTH], tile[SUM_WIDTH];
    for (int64_t c = 0; c < width; c++)
        total[c] = 0;
    for (int64_t row = from; row < to; row += SUM_GROUP) {
        int64_t end = to - row < SUM_GROUP ? to : row + SUM_GROUP;
        memset(group, 0, sizeof(group));
        for (int64_t i = row; i < end; i++)
            vec->add(width, group, kern_load(j->x, i * j->columns + at, width, tile), group);
        for (int64_t c = 0; c < width; c++)
            total[c] += (double)group[c];
    }
}

static void put_sum(const struct sum_job *j, int64_t at, int64_t width, const double *total)
{
    for (int64_t c = 0; c < width; c++)
        j->out[at + c] = (j->add ? j->out[at + c] : 0) + (float)total[c];
}

/* Many columns: each block has its own. */
static void sum_columns_block(void *context, int64_t block)
{
    const struct sum_job *j = context;
    double total[SUM_WIDTH];
    int64_t at = block * SUM_WIDTH, left = j->columns - at;
    int64_t width = left < SUM_WIDTH ? left : SUM_WIDTH;
    sum_rows(j, 0, j->rows, at, width, total);
    put_sum(j, at, width, total);
}

/* Few columns: each block has its own rows. */
static void sum_part(void *context, int64_t part)
{
    const struct sum_job *j = context;
    sum_rows(j, j->rows * part / j->parts, j->rows * (part + 1) / j->parts, 0, j->columns,
             j->partial[part]);
}

void op_column_sum(struct view x, int64_t rows, int64_t columns, float *out, bool add)
{
    struct sum_job job = {.x = x, .rows = rows, .columns = columns, .out = out, .add = add};
    if (columns > SUM_WIDTH) {
        par_for((columns + SUM_WIDTH - 1) / SUM_WIDTH, sum_columns_block, &job);
        return;
    }
    double partial[SUM_PARTS][SUM_WIDTH];
    int64_t parts = (rows + SUM_PART_ROWS - 1) / SUM_PART_ROWS;
    job.parts = parts < SUM_PARTS ? parts : SUM_PARTS;
    job.partial = partial;
    par_for(job.parts, sum_part, &job);
    double total[SUM_WIDTH] = {0};
    for (int64_t p = 0; p < job.parts; p++)
        for (int64_t c = 0; c < columns; c++)
            total[c] += partial[p][c];
    put_sum(&job, 0, columns, total);
}
