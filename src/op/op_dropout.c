/* op_dropout.c: in training each element is 0 with probability p, else x/(1-p); in evaluation
 * nothing happens. The mask is a function of (seed, micro-batch, node, element), so backward makes
 * it again instead of keeping it, and no thread count or resume changes it. */
#include "config.h"

#include "op/op.h"

#include <math.h>
#include <stddef.h>

struct dropout {
    double p;
};

static const struct key keys[] = {
    {"p", KEY_FLOAT, offsetof(struct dropout, p), "0.5", 0, 1, KEY_BELOW_MAX, NULL,
     "Probability that an element becomes 0; the others are multiplied by 1/(1-p)."},
    {0},
};

struct job {
    struct view from, to;
    struct rng_key key;
    uint32_t dropped; /* an element with a random word below this becomes 0 */
    float factor;
    bool add;
};

/* KERN_TILE is a multiple of 4, so `at` starts at a whole counter. */
static void mask_tile(void *context, int64_t at, int64_t n)
{
    const struct job *j = context;
    float tile[KERN_TILE], out[KERN_TILE];
    const float *x = kern_load(j->from, at, n, tile);
    uint32_t words[KERN_TILE];
    rng_many(j->key, (uint64_t)at / 4, (n + 3) / 4, words);
    const uint32_t dropped = j->dropped;
    const float factor = j->factor;
    for (int64_t i = 0; i < n; i++) { /* a select: a branch would guess wrong */
        float kept = x[i] * factor;
        out[i] = words[i] < dropped ? 0 : kept;
    }
    (j->add ? kern_store_add : kern_store)(j->to, at, n, out);
}

static void apply(const struct op_run *r, const struct node *n, struct view from, struct view to,
                  bool add)
{
    const struct dropout *a = n->attrs.at;
    int64_t elements = op_elements(r, n->out);
    if (!r->training) {
        op_copy(to, from, elements, add);
        return;
    }
    /* p is below 1, so the product is below 2^32 unless p is within 2^-33 of 1 */
    double dropped = fmin(rint(a->p * 0x1p32), 0x1p32 - 1);
    struct job job = {from, to, op_rng(r, n), (uint32_t)dropped, (float)(1 / (1 - a->p)), add};
    op_tiles(elements, mask_tile, &job);
}

static void forward(const struct op_run *r, const struct node *n)
{
    apply(r, n, op_view(r, n->in[0]), op_view(r, n->out), false);
}

static void backward(const struct op_run *r, const struct node *n)
{
    if (op_d_in(r, n, 0).data)
        apply(r, n, op_d_out(r, n), op_d_in(r, n, 0), n->grad_adds[0]);
}

static const struct op_case cases[] = {
    {NULL, 1, {{2, {5, 7}}}, 0},
    {"{p: 0}", 1, {{2, {3, 5}}}, 0},
    {"{p: 0.1}", 1, {{3, {3, 11, 41}}}, 0},
    {0},
};

const struct op op_dropout = {
    .name = "dropout",
    .help = "Sets random elements to 0 in training.",
    .kind = OP_LAYER,
    .class = OP_INFER,
    .in_min = 1,
    .in_max = 1,
    .keys = keys,
    .attrs_size = sizeof(struct dropout),
    .shape = op_shape_same,
    .forward = forward,
    .backward = backward,
    .cases = cases,
};
