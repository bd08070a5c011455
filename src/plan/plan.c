/* plan.c: the list of passes, and the bytes behind the tensors. See plan.h. */
#include "config.h"

#include "plan/plan.h"

#include "plan/pass.h"

#include <inttypes.h>
#include <string.h>

/* FNV-1a over what makes two models the same: a checkpoint of one must not load into another. */
static enum rc take_fingerprint(struct plan *p, struct diag *d)
{
    (void)d;
    uint64_t hash = 0xCBF29CE484222325u;
    struct str text;
    str_init(&text);
    for (int i = 0; i < p->graph.n_nodes; i++) {
        const struct node *n = &p->graph.nodes[i];
        if (n->op->kind == OP_INTERNAL)
            continue;
        str_printf(&text, "%s %s\n", n->name, n->op->name);
        if (n->attrs.rows)
            keys_write(&n->attrs, &text, 1);
        for (int k = 0; k < n->n_params; k++) {
            const struct tensor *t = graph_tensor(&p->graph, n->param[k]);
            for (int j = 0; j < t->rank; j++)
                str_printf(&text, " %" PRId64, t->dims[j]);
        }
    }
    for (size_t i = 0; i < text.length; i++)
        hash = (hash ^ (unsigned char)text.text[i]) * 0x100000001B3u;
    str_release(&text);
    snprintf(p->fingerprint, sizeof(p->fingerprint), "%016" PRIx64, hash);
    return RC_OK;
}

static const struct {
    const char *name;
    enum rc (*run)(struct plan *p, struct diag *d);
} passes[] = {
    {"build", pass_build},
    {"shape", pass_shape},
    {"fingerprint", take_fingerprint}, /* of what the user wrote */
    {"precision", pass_precision},
    {"fuse", pass_fuse},
    {"backward", pass_backward},
    {"kernels", pass_kernels},
    {"memory", pass_memory},
    {"verify", pass_verify},
};

enum rc plan_make(struct plan *out, const struct spec *spec, const struct plan_data *data,
                  bool training, struct diag *d)
{
    memset(out, 0, sizeof(*out));
    pool_init(&out->pool);
    out->spec = spec;
    out->data = data;
    out->training = training;
    graph_init(&out->graph, &out->pool, spec->train.batch);
    for (size_t i = 0; i < COUNT_OF(passes); i++) {
        enum rc rc = passes[i].run(out, d);
        if (rc != RC_OK) {
            plan_release(out);
            return rc;
        }
    }
    out->data = NULL;
    return RC_OK;
}

static bool is_passing(enum role r)
{
    return r == ROLE_ACT || r == ROLE_SAVED || r == ROLE_GRAD;
}

enum rc plan_bind(struct plan *p, struct diag *d)
{
    char room[STR_BYTES_ROOM];
    size_t need = p->lasting.size + p->passing.size, lasting = p->lasting.size;
    if (arena_init(&p->lasting, lasting) != RC_OK ||
        arena_init(&p->passing, p->totals.arena_bytes) != RC_OK)
        return diag_error(d, RC_FAILED, NOWHERE, "out of memory: the plan needs %s",
                          str_bytes(room, need + p->totals.arena_bytes));
    for (int i = 0; i < p->graph.n_tensors; i++) {
        struct tensor *t = graph_tensor(&p->graph, i);
        t->data = (is_passing(t->role) ? p->passing.base : p->lasting.base) + t->offset;
    }
    p->scratch = p->lasting.base + lasting - arena_round(p->totals.scratch_bytes);
    return RC_OK;
}

void plan_release(struct plan *p)
{
    if (p->lasting.base)
        arena_release(&p->lasting);
    if (p->passing.base)
        arena_release(&p->passing);
    pool_release(&p->pool);
}

void plan_pack_shadows(const struct plan *p)
{
    for (int i = 0; i < p->graph.n_nodes; i++) {
        const struct node *n = &p->graph.nodes[i];
        for (int slot = 0; slot < n->n_gemms; slot++) {
            if (n->shadow[slot] == TENSOR_NONE)
                continue;
            const struct tensor *shadow = graph_tensor(&p->graph, n->shadow[slot]);
            const struct tensor *master = graph_tensor(&p->graph, shadow->of);
            kern_gemm_pack(n->gemm[slot], master->data, tensor_columns(master), shadow->data);
        }
    }
}
