/* pass_precision.c: THE place that decides in which type each node runs, and why.
 *
 * The most specific rule wins: layer name, then glob over layer names, then op name, then the op's
 * built-in class. Two rules of one rank that disagree are an error. Afterwards casts are inserted
 * where the two ends of an edge differ, one for each (tensor, dtype). */
#include "config.h"

#include "plan/pass.h"

#include <fnmatch.h>
#include <string.h>

enum rank { RANK_CLASS, RANK_OP, RANK_GLOB, RANK_NAME };

static bool is_glob(const char *selector)
{
    return strpbrk(selector, "*?[") != NULL;
}

/* How closely the rule names the node; RANK_CLASS: not at all. */
static enum rank match(const struct precision_rule *rule, const struct node *n)
{
    if (strcmp(rule->selector, n->name) == 0)
        return RANK_NAME;
    if (is_glob(rule->selector) && fnmatch(rule->selector, n->name, 0) == 0)
        return RANK_GLOB;
    return strcmp(rule->selector, n->op->name) == 0 ? RANK_OP : RANK_CLASS;
}

static bool conflict(const struct precision_rule *a, const struct precision_rule *b)
{
    if (a->action == RULE_ALLOW && b->action == RULE_ALLOW)
        return a->dtype != b->dtype;
    return a->action != b->action && a->dtype == b->dtype;
}

static const char *action_name(enum rule_action a)
{
    return a == RULE_ALLOW ? "allow" : "deny";
}

/* Highest rank at which some rule names the node. */
static enum rank best_rank(const struct precision_spec *ps, const struct node *n)
{
    enum rank best = RANK_CLASS;
    for (int i = 0; i < ps->n_rules; i++) {
        enum rank r = match(&ps->rules[i], n);
        if (r > best)
            best = r;
    }
    return best;
}

/* The deciding rules of rank `rank`: one allow at most, and what is denied. */
static enum rc collect(const struct precision_spec *ps, const struct node *n, enum rank rank,
                       const struct precision_rule **allow,
                       const struct precision_rule *deny[DTYPE_COUNT], struct diag *d)
{
    for (int i = 0; i < ps->n_rules; i++) {
        const struct precision_rule *a = &ps->rules[i];
        if (rank == RANK_CLASS || match(a, n) != rank)
            continue;
        for (int j = 0; j < i; j++) {
            const struct precision_rule *b = &ps->rules[j];
            if (match(b, n) != rank || !conflict(a, b))
                continue;
            (void)diag_error(d, RC_CONFIG, a->loc,
                             "'%s' in %s.%s contradicts another rule for '%s'", a->selector,
                             dtype_name(a->dtype), action_name(a->action), n->name);
            diag_note(d, b->loc, "'%s' in %s.%s is the other one", b->selector,
                      dtype_name(b->dtype), action_name(b->action));
            return RC_CONFIG;
        }
        if (a->action == RULE_ALLOW)
            *allow = a;
        else
            deny[a->dtype] = a;
    }
    return RC_OK;
}

/* The common type of the activations it reads; fp32 where they differ. */
static enum dtype input_dtype(const struct graph *g, const struct node *n)
{
    enum dtype t = graph_tensor(g, n->in[0])->dtype;
    for (int i = 1; i < n->n_in; i++)
        if (graph_tensor(g, n->in[i])->dtype != t)
            return DTYPE_F32;
    return t;
}

static enum dtype class_dtype(const struct plan *p, const struct node *n)
{
    switch (n->op->class) {
    case OP_ALLOW:
        return precision_dtype(&p->spec->precision);
    case OP_DENY:
        return DTYPE_F32;
    default:
        return input_dtype(&p->graph, n);
    }
}

static enum rc set_rule(struct plan *p, struct node *n, const struct precision_rule *rule,
                        struct diag *d)
{
    if (!rule) {
        n->rule = pool_printf(&p->pool, "class %s", op_class_name(n->op->class));
        n->rule_loc = NOWHERE;
    } else {
        n->rule = pool_printf(&p->pool, "%s.%s '%s'", dtype_name(rule->dtype),
                              action_name(rule->action), rule->selector);
        n->rule_loc = rule->loc;
    }
    TRY_ALLOC(n->rule, d);
    return RC_OK;
}

static enum rc decide(struct plan *p, struct node *n, struct diag *d)
{
    const struct precision_spec *ps = &p->spec->precision;
    const struct precision_rule *allow = NULL, *deny[DTYPE_COUNT] = {NULL};
    TRY(collect(ps, n, best_rank(ps, n), &allow, deny, d));
    enum dtype t = allow ? allow->dtype : class_dtype(p, n);
    const struct precision_rule *rule = allow;
    if (deny[t]) {
        rule = deny[t];
        t = DTYPE_F32;
        if (deny[DTYPE_F32])
            return diag_error(d, RC_CONFIG, deny[DTYPE_F32]->loc,
                              "'%s' may not run in fp32, and no other type is allowed for it",
                              n->name);
    }
    if (n->op->kind == OP_LOSS && t != DTYPE_F32)
        return diag_error(d, RC_CONFIG, rule ? rule->loc : n->loc,
                          "the loss %s is computed in fp32 only: its logarithms and sums are not "
                          "safe in %s",
                          n->op->name, dtype_name(t));
    n->dtype = t;
    p->uses_fp16 |= t == DTYPE_F16;
    if (n->out != TENSOR_NONE)
        graph_tensor(&p->graph, n->out)->dtype = t;
    return set_rule(p, n, rule, d);
}

struct word_list {
    const struct graph *graph;
};

static const char *selector_word(const void *context, int i)
{
    const struct word_list *w = context;
    if (i < w->graph->n_nodes)
        return w->graph->nodes[i].name;
    const struct op *op = op_at(i - w->graph->n_nodes);
    return !op ? NULL : op->kind == OP_INTERNAL ? "" : op->name; /* "" is near to nothing */
}

static bool selects_something(const struct precision_rule *rule, const struct graph *g)
{
    const struct op *op = op_find(rule->selector);
    if (op && op->kind != OP_INTERNAL)
        return true;
    for (int i = 0; i < g->n_nodes; i++)
        if (match(rule, &g->nodes[i]) != RANK_CLASS)
            return true;
    return false;
}

static enum rc check_selectors(const struct plan *p, struct diag *d)
{
    const struct precision_spec *ps = &p->spec->precision;
    struct word_list words = {&p->graph};
    enum rc rc = RC_OK;
    for (int i = 0; i < ps->n_rules; i++) {
        const struct precision_rule *rule = &ps->rules[i];
        if (selects_something(rule, &p->graph))
            continue;
        rc = diag_error(d, RC_CONFIG, rule->loc, "precision: no layer and no op is called '%.60s'",
                        rule->selector);
        const char *near = str_nearest(rule->selector, selector_word, &words);
        if (near)
            diag_note(d, rule->loc, "did you mean '%s'?", near);
    }
    return rc;
}

/* The tensor `id` in type t: itself, a cast that is already there, or a new one before node `at`.
 * Sets *added where a node was inserted. */
static enum rc cast_to(struct plan *p, int id, enum dtype t, int at, int *out, bool *added,
                       struct diag *d)
{
    struct graph *g = &p->graph;
    *added = false;
    for (int i = 0; i < at; i++) {
        const struct node *c = &g->nodes[i];
        if (c->op == op_get(OP_cast) && c->in[0] == id && c->dtype == t) {
            *out = c->out;
            return RC_OK;
        }
    }
    const char *name = pool_printf(&p->pool, "%s.%s", graph_tensor(g, id)->name, dtype_name(t));
    TRY_ALLOC(name, d);
    struct node *c = graph_insert_node(g, at, op_get(OP_cast), name);
    TRY_ALLOC(c, d);
    c->inserted = true;
    c->n_in = 1;
    c->in[0] = id;
    TRY(c->op->shape(g, c, d));
    c->dtype = t;
    c->rule = "edge";
    graph_tensor(g, c->out)->dtype = t;
    *out = c->out;
    *added = true;
    return RC_OK;
}

static enum rc insert_casts(struct plan *p, struct diag *d)
{
    struct graph *g = &p->graph;
    for (int i = 0; i < g->n_nodes; i++) {
        for (int k = 0; k < g->nodes[i].n_in; k++) {
            struct node *n = &g->nodes[i];
            int id = n->in[k], cast = TENSOR_NONE;
            bool added;
            if (n->op == op_get(OP_cast) || id == p->target ||
                graph_tensor(g, id)->dtype == n->dtype)
                continue;
            TRY(cast_to(p, id, n->dtype, i, &cast, &added, d));
            i += added;
            g->nodes[i].in[k] = cast;
        }
    }
    p->loss = g->n_nodes - 1;
    return RC_OK;
}

enum rc pass_precision(struct plan *p, struct diag *d)
{
    const struct loss_scale_spec *ls = &p->spec->loss_scale;
    enum rc rc = check_selectors(p, d);
    for (int i = 0; i < p->graph.n_nodes; i++) {
        enum rc of_node = decide(p, &p->graph.nodes[i], d);
        rc = rc == RC_OK ? of_node : rc;
    }
    if (rc != RC_OK)
        return rc;
    p->scale = ls->type > 0    ? (enum scale_type)(ls->type - 1)
               : p->uses_fp16 ? SCALE_DYNAMIC
                              : SCALE_NONE;
    return insert_casts(p, d);
}
