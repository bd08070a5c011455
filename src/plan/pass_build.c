/* pass_build.c: layers of the config -> nodes in execution order: names with their scopes, `from`,
 * residual blocks (an add at their end), repeated blocks, the loss. First of the passes. */
#include "config.h"

#include "plan/pass.h"

#include <string.h>

/* A name that `from` can use, and the node that gives its result. */
struct known {
    const char *name;
    int node;
};

struct builder {
    struct plan *plan;
    struct diag *d;
    struct known *known;
    int n_known, room;
};

static enum rc remember(struct builder *b, const char *name, int node)
{
    if (b->n_known == b->room) {
        int room = b->room ? 2 * b->room : 64;
        struct known *more = pool_grow(&b->plan->pool, b->known, (size_t)b->n_known, (size_t)room,
                                       sizeof(*more));
        TRY_ALLOC(more, b->d);
        b->known = more;
        b->room = room;
    }
    b->known[b->n_known++] = (struct known){name, node};
    return RC_OK;
}

static const char *known_name(const void *context, int i)
{
    const struct builder *b = context;
    return i < b->n_known ? b->known[i].name : NULL;
}

/* "blocks.0." + name, where the scope ends in a dot or is empty. */
static const char *scoped(struct builder *b, const char *scope, const char *name)
{
    return pool_printf(&b->plan->pool, "%s%s", scope, name);
}

static const struct known *look_up(const struct builder *b, const char *name)
{
    for (int i = 0; i < b->n_known; i++)
        if (strcmp(b->known[i].name, name) == 0)
            return &b->known[i];
    return NULL;
}

/* The node that `name` means inside `scope`: the innermost scope that has it wins. */
static enum rc resolve(struct builder *b, const char *scope, const char *name, struct loc loc,
                       int *node)
{
    if (strcmp(name, "input") == 0) {
        *node = PASS_READS_INPUT;
        return RC_OK;
    }
    size_t length = strlen(scope);
    for (;;) {
        const char *full = pool_printf(&b->plan->pool, "%.*s%s", (int)length, scope, name);
        TRY_ALLOC(full, b->d);
        const struct known *k = look_up(b, full);
        if (k) {
            *node = k->node;
            return RC_OK;
        }
        if (length == 0)
            break;
        length--;
        while (length > 0 && scope[length - 1] != '.')
            length--;
    }
    enum rc rc = diag_error(b->d, RC_CONFIG, loc,
                            "from: no layer before this one is called '%.60s'", name);
    const char *near = str_nearest(name, known_name, b);
    if (near)
        diag_note(b->d, loc, "did you mean '%s'?", near);
    return rc;
}

static enum rc check_arity(struct builder *b, const struct layer *l, int n_in)
{
    if (n_in < l->op->in_min)
        return diag_error(b->d, RC_CONFIG, l->loc,
                          "%s '%s' needs %d inputs, it has %d: name them with 'from'", l->op->name,
                          l->name, l->op->in_min, n_in);
    int most = l->op->in_max < NODE_MAX_IN ? l->op->in_max : NODE_MAX_IN;
    if (n_in > most)
        return diag_error(b->d, RC_CONFIG, l->from_loc, "%s '%s' takes at most %d inputs, not %d",
                          l->op->name, l->name, most, n_in);
    return RC_OK;
}

static enum rc add_node(struct builder *b, const struct op *op, const char *name, struct loc loc,
                        int n_in, const int *in)
{
    struct graph *g = &b->plan->graph;
    struct node *n = graph_insert_node(g, g->n_nodes, op, name);
    TRY_ALLOC(n, b->d);
    n->loc = loc;
    n->n_in = n_in;
    for (int i = 0; i < n_in; i++)
        n->in[i] = in[i];
    return RC_OK;
}

/* Where the layer reads: `from`, else the layer before. */
static enum rc read_from(struct builder *b, const char *scope, const struct layer *l, int last,
                         int in[NODE_MAX_IN], int *n_in)
{
    const char *const *names = l->from.at;
    *n_in = l->from.n ? l->from.n : 1;
    in[0] = last;
    if (*n_in > NODE_MAX_IN)
        return diag_error(b->d, RC_CONFIG, l->from_loc, "at most %d inputs", NODE_MAX_IN);
    for (int i = 0; i < l->from.n; i++)
        TRY(resolve(b, scope, names[i], l->from_loc, &in[i]));
    return RC_OK;
}

static enum rc build_list(struct builder *b, const char *scope, const struct layer *layers, int n,
                          int *last);

static enum rc build_residual(struct builder *b, const char *name, const struct layer *l, int *last)
{
    int shortcut = *last, ends[2];
    const char *scope = pool_printf(&b->plan->pool, "%s.", name);
    const char *side = pool_printf(&b->plan->pool, "%s.projection.", name);
    TRY_ALLOC(scope, b->d);
    TRY_ALLOC(side, b->d);
    TRY(build_list(b, side, l->projection, l->n_projection, &shortcut));
    TRY(build_list(b, scope, l->layers, l->n_layers, last));
    ends[0] = shortcut;
    ends[1] = *last;
    TRY(add_node(b, op_get(OP_add), name, l->loc, 2, ends));
    struct graph *g = &b->plan->graph;
    g->nodes[g->n_nodes - 1].inserted = true;
    *last = g->n_nodes - 1;
    return RC_OK;
}

static enum rc build_repeat(struct builder *b, const char *name, const struct layer *l, int *last)
{
    for (int64_t i = 0; i < l->times; i++) {
        const char *scope = pool_printf(&b->plan->pool, "%s.%d.", name, (int)i);
        TRY_ALLOC(scope, b->d);
        TRY(build_list(b, scope, l->layers, l->n_layers, last));
    }
    return RC_OK;
}

static enum rc build_op(struct builder *b, const char *scope, const char *name,
                        const struct layer *l, int *last)
{
    int in[NODE_MAX_IN], n_in;
    TRY(read_from(b, scope, l, *last, in, &n_in));
    TRY(check_arity(b, l, n_in));
    TRY(add_node(b, l->op, name, l->loc, n_in, in));
    struct graph *g = &b->plan->graph;
    g->nodes[g->n_nodes - 1].attrs = l->attrs;
    *last = g->n_nodes - 1;
    return RC_OK;
}

static enum rc build_layer(struct builder *b, const char *scope, const struct layer *l, int *last)
{
    const char *name = scoped(b, scope, l->name);
    TRY_ALLOC(name, b->d);
    if (l->kind == LAYER_OP) {
        TRY(build_op(b, scope, name, l, last));
    } else {
        int in[NODE_MAX_IN], n_in;
        TRY(read_from(b, scope, l, *last, in, &n_in));
        if (n_in != 1)
            return diag_error(b->d, RC_CONFIG, l->from_loc, "a block has one input");
        *last = in[0];
        TRY(l->kind == LAYER_RESIDUAL ? build_residual(b, name, l, last)
                                      : build_repeat(b, name, l, last));
    }
    return remember(b, name, *last);
}

static enum rc build_list(struct builder *b, const char *scope, const struct layer *layers, int n,
                          int *last)
{
    for (int i = 0; i < n; i++)
        TRY(build_layer(b, scope, &layers[i], last));
    return RC_OK;
}

/* Every layer's result must be read by another: a branch that ends nowhere is a mistake. */
static enum rc check_ends(struct builder *b)
{
    const struct graph *g = &b->plan->graph;
    enum rc rc = RC_OK;
    for (int i = 0; i < g->n_nodes - 1; i++) {
        bool read = false;
        for (int j = i + 1; j < g->n_nodes && !read; j++)
            for (int k = 0; k < g->nodes[j].n_in; k++)
                read |= g->nodes[j].in[k] == i;
        if (!read)
            rc = diag_error(b->d, RC_CONFIG, g->nodes[i].loc,
                            "nothing reads the output of '%s': name it in a later layer's 'from', "
                            "or leave it out",
                            g->nodes[i].name);
    }
    return rc;
}

enum rc pass_build(struct plan *p, struct diag *d)
{
    struct builder b = {.plan = p, .d = d};
    const struct spec *s = p->spec;
    int last = PASS_READS_INPUT;
    TRY(build_list(&b, "", s->layers, s->n_layers, &last));
    int in[2] = {last, PASS_READS_TARGET};
    TRY(add_node(&b, s->loss.op, "loss", s->loss.loc, 2, in));
    p->loss = p->graph.n_nodes - 1;
    p->graph.nodes[p->loss].attrs = s->loss.attrs;
    return check_ends(&b);
}
