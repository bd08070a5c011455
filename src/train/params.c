/* params.c: see params.h. */
#include "config.h"

#include "train/params.h"

#include "base/par.h"
#include "kern/kern_cast.h"

#include <math.h>

enum { BLOCK = 16384 }; /* elements: a few hundred KiB with state, so it stays in L2 */

struct params_block {
    int64_t at, n;
    float *w;       /* masters, at `at` */
    const float *g; /* their gradients */
    float *state[OPTIM_MAX_STATES];
    double weight_decay;
    enum dtype narrow; /* fp32: not at all */
    struct params_check check;
};

static void find_states(const struct plan *plan, int param, float *state[OPTIM_MAX_STATES])
{
    int n = 0;
    for (int i = 0; i < plan->graph.n_tensors; i++) {
        const struct tensor *t = graph_tensor(&plan->graph, i);
        if (t->role == ROLE_STATE && t->of == param)
            state[n++] = t->data;
    }
}

static enum dtype narrow_type(const struct plan *plan, int param)
{
    if (plan->spec->precision.param_grads == 0)
        return DTYPE_F32;
    for (int i = 0; i < plan->graph.n_nodes; i++)
        for (int k = 0; k < plan->graph.nodes[i].n_params; k++)
            if (plan->graph.nodes[i].param[k] == param)
                return plan->graph.nodes[i].dtype;
    return DTYPE_F32;
}

static void cut(struct params *p, int param)
{
    const struct plan *plan = p->plan;
    const struct tensor *t = graph_tensor(&plan->graph, param);
    float *state[OPTIM_MAX_STATES] = {NULL};
    find_states(plan, param, state);
    int64_t total = tensor_elements(t);
    for (int64_t at = 0; at < total; at += BLOCK) {
        struct params_block *b = &p->blocks[p->n_blocks++];
        b->at = at;
        b->n = total - at < BLOCK ? total - at : BLOCK;
        b->w = (float *)t->data + at;
        b->g = (const float *)graph_tensor(&plan->graph, t->grad)->data + at;
        for (int s = 0; s < OPTIM_MAX_STATES; s++)
            b->state[s] = state[s] ? state[s] + at : NULL;
        bool spared = plan->spec->optimizer.decay == 1 && t->no_decay;
        b->weight_decay = spared ? 0 : plan->spec->optimizer.weight_decay;
        b->narrow = narrow_type(plan, param);
    }
}

enum rc params_init(struct params *p, const struct plan *plan, struct pool *pool, struct diag *d)
{
    int64_t blocks = 0;
    p->plan = plan;
    p->n_blocks = 0;
    for (int i = 0; i < plan->graph.n_tensors; i++)
        if (plan->graph.tensors[i].role == ROLE_PARAM)
            blocks += (tensor_elements(&plan->graph.tensors[i]) + BLOCK - 1) / BLOCK;
    p->blocks = pool_array(pool, (size_t)blocks, sizeof(*p->blocks));
    TRY_ALLOC(p->blocks, d);
    for (int i = 0; i < plan->graph.n_tensors; i++)
        if (plan->graph.tensors[i].role == ROLE_PARAM)
            cut(p, i);
    return RC_OK;
}

static void narrow_block(void *context, int64_t i)
{
    const struct params_block *b = &((const struct params *)context)->blocks[i];
    uint16_t half[KERN_TILE];
    if (b->narrow == DTYPE_F32)
        return;
    for (int64_t at = 0; at < b->n; at += KERN_TILE) {
        int64_t n = b->n - at < KERN_TILE ? b->n - at : KERN_TILE;
        kern_cast(b->narrow, half, DTYPE_F32, b->g + at, n);
        kern_cast(DTYPE_F32, (float *)b->g + at, b->narrow, half, n);
    }
}

void params_narrow(const struct params *p)
{
    if (p->plan->spec->precision.param_grads != 0)
        par_for(p->n_blocks, narrow_block, (void *)p);
}

enum { LANES = 8 };

static void check_block(void *context, int64_t i)
{
    struct params_block *b = &((const struct params *)context)->blocks[i];
    double sums[LANES] = {0}, sum = 0;
    float most[LANES] = {0};
    int64_t at = 0;
    b->check.nonfinite = kern_count_nonfinite((struct view){(void *)b->g, DTYPE_F32}, b->n);
    for (; at + LANES <= b->n; at += LANES)
        for (int l = 0; l < LANES; l++) {
            float x = fabsf(b->g[at + l]);
            sums[l] += (double)x * (double)x;
            most[l] = x > most[l] ? x : most[l];
        }
    for (; at < b->n; at++) {
        float x = fabsf(b->g[at]);
        sums[0] += (double)x * (double)x;
        most[0] = x > most[0] ? x : most[0];
    }
    for (int l = 0; l < LANES; l++) {
        sum += sums[l];
        most[0] = most[l] > most[0] ? most[l] : most[0];
    }
    b->check.square_sum = sum;
    b->check.max_abs = (double)most[0];
}

struct params_check params_check(const struct params *p)
{
    struct params_check all = {0};
    par_for(p->n_blocks, check_block, (void *)p);
    for (int i = 0; i < p->n_blocks; i++) {
        const struct params_check *c = &p->blocks[i].check;
        all.nonfinite += c->nonfinite;
        all.square_sum += c->square_sum;
        all.max_abs = fmax(all.max_abs, c->max_abs);
    }
    return all;
}

struct update {
    const struct params *params;
    const struct optim_step *step;
};

static void update_block(void *context, int64_t i)
{
    const struct update *u = context;
    const struct optimizer_spec *o = &u->params->plan->spec->optimizer;
    const struct params_block *b = &u->params->blocks[i];
    o->optim->update(o->attrs.at, u->step, b->weight_decay, b->n, b->w, b->g, b->state);
}

void params_update(const struct params *p, const struct optim_step *s)
{
    struct update u = {p, s};
    par_for(p->n_blocks, update_block, &u);
}
