/* op_loss.c: see op_loss.h. */
#include "config.h"

#include "op/op_loss.h"

#include "base/par.h"

#include <inttypes.h>

int64_t op_loss_block(int64_t columns)
{
    int64_t items = 16 * KERN_TILE / columns;
    return items > 0 ? items : 1;
}

static int64_t n_blocks(int64_t items, int64_t columns)
{
    int64_t block = op_loss_block(columns);
    return (items + block - 1) / block;
}

void op_loss_book(struct node *n, int64_t items, int64_t columns)
{
    op_plan_scratch(n, (size_t)n_blocks(items, columns) * sizeof(struct op_loss));
}

struct job {
    const struct op_run *r;
    const struct node *n;
    int64_t items, block;
    op_loss_body *body;
    struct op_loss *sums; /* one for each block */
};

static void sum_block(void *context, int64_t b)
{
    const struct job *j = context;
    int64_t at = b * j->block, left = j->items - at;
    struct op_loss sum = {0};
    j->body(j->r, j->n, at, left < j->block ? left : j->block, &sum);
    j->sums[b] = sum;
}

void op_loss_sum(const struct op_run *r, const struct node *n, int64_t items, int64_t columns,
                 op_loss_body *body)
{
    struct job job = {r, n, items, op_loss_block(columns), body, r->scratch};
    int64_t blocks = n_blocks(items, columns);
    par_for(blocks, sum_block, &job);
    struct op_loss total = {0};
    for (int64_t b = 0; b < blocks; b++) {
        total.sum += job.sums[b].sum;
        total.count += job.sums[b].count;
        total.correct += job.sums[b].correct;
    }
    *r->loss = total;
}

enum rc op_loss_shape(struct graph *g, struct node *n, struct diag *d)
{
    const struct tensor *x = graph_tensor(g, n->in[0]), *t = graph_tensor(g, n->in[1]);
    int64_t predicted = tensor_row_elements(x), wanted = tensor_row_elements(t);
    if (predicted == wanted)
        return RC_OK;
    return diag_error(d, RC_CONFIG, n->loc,
                      "loss %s: '%s' gives %" PRId64 " values a row, the data has %" PRId64
                      " targets a row; they must be as many",
                      n->op->name, x->name, predicted, wanted);
}

void op_loss_plan(struct op_planner *p, struct node *n)
{
    op_loss_book(n, tensor_elements(graph_tensor(p->graph, n->in[0])), 1);
}

int64_t op_loss_count(const struct graph *g, const struct node *n, const void *targets,
                      int64_t rows)
{
    (void)targets;
    return rows * tensor_row_elements(graph_tensor(g, n->in[0]));
}

int64_t op_loss_ignores_none(const struct node *n)
{
    (void)n;
    return -1;
}

const float *op_loss_targets(const struct op_run *r, const struct node *n)
{
    return op_f32(r, n->in[1]);
}
