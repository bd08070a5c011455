/* spec_precision.c: `precision`: the lists become rules with their places. What a selector matches,
 * and which rule wins, is for plan/pass_precision.c; here, before any data is read, only words that
 * name nothing and rules that contradict each other word for word are refused. */
#include "config.h"

#include "config/spec_read.h"

#include <string.h>

static const enum dtype types[] = {DTYPE_F32, DTYPE_BF16, DTYPE_F16};

enum dtype precision_dtype(const struct precision_spec *p)
{
    return types[p->compute];
}

static const char *action_name(enum rule_action action)
{
    return action == RULE_ALLOW ? "allow" : "deny";
}

/* Do two rules about the same selector contradict each other? */
static bool contradict(const struct precision_rule *a, const struct precision_rule *b)
{
    if (a->action == RULE_ALLOW && b->action == RULE_ALLOW)
        return a->dtype != b->dtype;
    return a->action != b->action && a->dtype == b->dtype;
}

/* Compares a new rule with those before it. */
static void check_rule(const struct spec_reader *r, const struct precision_rule *rule)
{
    const struct precision_spec *p = &r->spec->precision;
    for (int i = 0; i < p->n_rules; i++) {
        const struct precision_rule *old = &p->rules[i];
        if (strcmp(old->selector, rule->selector) != 0)
            continue;
        if (old->dtype == rule->dtype && old->action == rule->action)
            (void)diag_error(r->d, RC_CONFIG, rule->loc, "'%.64s' stands twice in '%s.%s'",
                             rule->selector, dtype_name(rule->dtype), action_name(rule->action));
        else if (contradict(old, rule))
            (void)diag_error(r->d, RC_CONFIG, rule->loc, "'%.64s' is in '%s.%s' and in '%s.%s'",
                             rule->selector, dtype_name(rule->dtype), action_name(rule->action),
                             dtype_name(old->dtype), action_name(old->action));
        else
            continue;
        diag_note(r->d, old->loc, "the first one is here");
        return;
    }
}

static void add_rule(const struct spec_reader *r, const struct value *v, enum dtype dtype,
                     enum rule_action action)
{
    struct precision_spec *p = &r->spec->precision;
    struct precision_rule rule = {dtype, action, v->text, v->loc};
    if (v->kind != VALUE_SCALAR || !v->text[0]) {
        (void)diag_error(r->d, RC_CONFIG, v->loc,
                         "an item of 'precision.%s.%s' must be an op, a layer or a glob, not %s",
                         dtype_name(dtype), action_name(action), value_kind_name(v));
        return;
    }
    if (p->n_rules == SPEC_MAX_LIST)
        return (void)diag_error(r->d, RC_CONFIG, v->loc, "more than %d rules", SPEC_MAX_LIST);
    check_rule(r, &rule);
    if ((p->n_rules & (p->n_rules - 1)) == 0) { /* full at powers of two */
        size_t n = (size_t)p->n_rules;
        struct precision_rule *more = pool_grow(r->pool, p->rules, n, n ? 2 * n : 1, sizeof(*more));
        if (!more)
            return (void)diag_no_memory(r->d);
        p->rules = more;
    }
    p->rules[p->n_rules++] = rule;
}

static void read_list(const struct spec_reader *r, const struct value *list, enum dtype dtype,
                      enum rule_action action)
{
    if (list && list->kind != VALUE_LIST)
        add_rule(r, list, dtype, action);
    for (int i = 0; list && list->kind == VALUE_LIST && i < list->n && !diag_is_full(r->d); i++)
        add_rule(r, list->items[i], dtype, action);
}

/* `fp16: {allow: [...], deny: [...]}` */
static void read_lists(const struct spec_reader *r, const struct value *v, enum dtype dtype)
{
    struct section lists;
    const char *where = pool_printf(r->pool, "precision.%s", dtype_name(dtype));
    if (!where)
        return (void)diag_no_memory(r->d);
    spec_section_read(r, &lists, where, spec_precision_list_keys, 0, (struct spec_entry){v, v->loc},
                      NULL);
    if (v->kind != VALUE_MAP)
        return;
    read_list(r, value_get(v, "allow"), dtype, RULE_ALLOW);
    read_list(r, value_get(v, "deny"), dtype, RULE_DENY);
}

void spec_precision_read(const struct spec_reader *r, const struct value *v, struct loc loc)
{
    struct spec *s = r->spec;
    v = spec_section_expand(r, "compute", v);
    spec_section_read(r, &s->precision_section, "precision", spec_precision_keys,
                      sizeof(struct precision_spec), (struct spec_entry){v, loc}, NULL);
    if (s->precision_section.at)
        s->precision = *(const struct precision_spec *)s->precision_section.at;
    for (size_t i = 0; v && v->kind == VALUE_MAP && i < COUNT_OF(types); i++) {
        const struct value *lists = value_get(v, dtype_name(types[i]));
        if (lists)
            read_lists(r, lists, types[i]);
    }
}

struct words {
    const char *const *layers;
    int n;
};

static const char *next_word(const void *context, int i)
{
    const struct words *w = context;
    if (i < w->n)
        return w->layers[i];
    const struct op *op = op_at(i - w->n);
    return !op ? NULL : op->kind == OP_INTERNAL ? "" : op->name; /* "" is near to nothing */
}

static bool is_known(const struct words *w, const char *selector)
{
    const struct op *op = op_find(selector);
    for (int i = 0; i < w->n; i++)
        if (strcmp(w->layers[i], selector) == 0)
            return true;
    return (op && op->kind != OP_INTERNAL) || strcmp(selector, "loss") == 0;
}

/* Patterns, and names with a scope before them, are left to the plan, which has all the names. */
void spec_precision_check(const struct spec_reader *r, const struct value *model)
{
    const struct precision_spec *p = &r->spec->precision;
    if (!model || model->kind != VALUE_LIST)
        return;
    struct words words = {spec_name_list(r->pool, model), model->n};
    if (!words.layers)
        return (void)diag_no_memory(r->d);
    for (int i = 0; i < p->n_rules; i++) {
        const struct precision_rule *rule = &p->rules[i];
        if (strpbrk(rule->selector, ".*?[") || is_known(&words, rule->selector))
            continue;
        (void)diag_error(r->d, RC_CONFIG, rule->loc,
                         "precision: no layer and no op is called '%.60s'", rule->selector);
        const char *near = str_nearest(rule->selector, next_word, &words);
        if (near)
            diag_note(r->d, rule->loc, "did you mean '%s'?", near);
    }
}
