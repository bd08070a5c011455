/* bench_op.c: `mptrain bench op NAME`: one op by itself, forward and backward, in each type that it
 * can run in. Shapes and keys come from the op's own cases, with a larger batch, or from the
 * command line. */
#include "config.h"

#include "bench/bench.h"

#include "base/cpu.h"
#include "base/par.h"
#include "bench/bench_node.h"
#include "bench/bench_time.h"

#include <string.h>

enum { CASE_ELEMENTS = 1 << 20, MAX_RESULTS = 128, MAX_ELEMENTS = 1 << 28 };

struct result {
    const char *attrs;
    char shape[TENSOR_SHAPE_ROOM];
    enum dtype dtype;
    bool backward;
    double bytes;
    struct bench_times t;
};

struct table {
    const struct bench_opts *o;
    const struct op *op;
    int n;
    struct result at[MAX_RESULTS];
};

static void show_shape(const struct bench_node_case *c, char out[TENSOR_SHAPE_ROOM])
{
    int at = snprintf(out, TENSOR_SHAPE_ROOM, "(");
    for (int i = 0; i < c->rank[0]; i++)
        at += snprintf(out + at, TENSOR_SHAPE_ROOM - (size_t)at, "%s%lld", i ? "," : "",
                       (long long)c->dims[0][i]);
    snprintf(out + at, TENSOR_SHAPE_ROOM - (size_t)at, ")");
}

static enum rc measure_case(struct table *t, struct bench_node_case *c, struct diag *d)
{
    static void (*const passes[])(void *) = {bench_node_forward, bench_node_backward};
    struct bench_node b;
    TRY(bench_node_init(&b, c, d));
    for (int backward = 0; backward < 2; backward++) {
        BUG_IF(t->n == MAX_RESULTS);
        struct result *r = &t->at[t->n++];
        r->attrs = c->attrs ? c->attrs : "";
        show_shape(c, r->shape);
        r->dtype = c->dtype;
        r->backward = backward;
        r->bytes = bench_node_bytes(&b, backward);
        r->t = bench_time(t->o->ms, passes[backward], &b);
    }
    bench_node_release(&b);
    return RC_OK;
}

/* Losses and other ops of class deny run in FP32 only; a cast to FP32 would be none. */
static bool takes(const struct op *op, enum dtype dtype)
{
    if (op == op_get(OP_cast))
        return dtype != DTYPE_F32;
    return op->class != OP_DENY || dtype == DTYPE_F32;
}

static enum rc measure_types(struct table *t, struct bench_node_case *c, struct diag *d)
{
    static const enum dtype types[] = {DTYPE_F32, DTYPE_BF16, DTYPE_F16};
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        if (!takes(t->op, types[i]) ||
            (t->o->dtype && strcmp(t->o->dtype, dtype_name(types[i])) != 0))
            continue;
        c->dtype = types[i];
        TRY(measure_case(t, c, d));
    }
    return RC_OK;
}

/* A case of the op, its batch enlarged until the first input has CASE_ELEMENTS. */
static struct bench_node_case enlarge(const struct op *op, const struct op_case *from)
{
    struct bench_node_case c = {.op = op, .attrs = from->attrs, .n_in = from->n_in};
    int64_t row = 1;
    for (int j = 1; j < from->in[0].rank; j++)
        row *= from->in[0].dims[j];
    for (int i = 0; i < from->n_in; i++) {
        c.rank[i] = from->in[i].rank;
        memcpy(c.dims[i], from->in[i].dims, sizeof(c.dims[i]));
        c.dims[i][0] = (CASE_ELEMENTS + row - 1) / row;
    }
    return c;
}

static enum rc read_shape(const char *text, struct bench_node_case *c, struct diag *d)
{
    const char *at = text;
    int rank = 0;
    double elements = 1;
    bool good = true;
    for (bool more = true; more && good; rank++) {
        char number[20];
        size_t length = strcspn(at, ",");
        good = rank < TENSOR_MAX_RANK && length < sizeof(number);
        if (!good)
            break;
        memcpy(number, at, length);
        number[length] = '\0';
        good = str_to_int(number, &c->dims[0][rank]) && c->dims[0][rank] > 0;
        elements *= (double)c->dims[0][rank];
        more = at[length] == ',';
        at += length + more;
    }
    if (!good || rank < 2 || elements > MAX_ELEMENTS)
        return diag_error(d, RC_USAGE, NOWHERE,
                          "bench op: --shape is 2 to %d numbers above 0, such as 256,1024, of at "
                          "most %d elements, not '%.60s'",
                          TENSOR_MAX_RANK, MAX_ELEMENTS, text);
    for (int i = 0; i < c->n_in; i++) {
        c->rank[i] = rank;
        memcpy(c->dims[i], c->dims[0], sizeof(c->dims[0]));
    }
    return RC_OK;
}

/* --shape or --attrs: one case, the rest of it as in the op's first. */
static enum rc measure_given(struct table *t, struct diag *d)
{
    struct bench_node_case c = enlarge(t->op, &t->op->cases[0]);
    if (t->o->attrs)
        c.attrs = t->o->attrs;
    if (t->o->shape)
        TRY(read_shape(t->o->shape, &c, d));
    enum rc rc = measure_types(t, &c, d);
    return rc == RC_CONFIG ? RC_USAGE : rc; /* the keys stand on the command line */
}

static enum rc measure_cases(struct table *t, struct diag *d)
{
    for (const struct op_case *from = t->op->cases; from->n_in > 0; from++) {
        struct bench_node_case c = enlarge(t->op, from);
        TRY(measure_types(t, &c, d));
    }
    return RC_OK;
}

static json_t *as_json(const struct table *t)
{
    json_t *rows = json_array();
    for (int i = 0; i < t->n; i++) {
        const struct result *r = &t->at[i];
        json_array_append_new(rows,
                              json_pack("{s:s, s:s, s:s, s:s, s:f, s:f, s:f, s:f, s:f}", "attrs",
                                        r->attrs, "shape", r->shape, "dtype", dtype_name(r->dtype),
                                        "pass", r->backward ? "backward" : "forward", "bytes",
                                        r->bytes, "best_ns", 1e9 * r->t.best, "median_ns",
                                        1e9 * r->t.median, "best_gbs", 1e-9 * r->bytes / r->t.best,
                                        "median_gbs", 1e-9 * r->bytes / r->t.median));
    }
    return json_pack("{s:s, s:i, s:s, s:o}", "cpu", cpu_name(), "threads", par_threads(), "op",
                     t->op->name, "rows", rows);
}

static void as_text(const struct table *t, struct str *out)
{
    bench_time_machine(out);
    str_printf(out, "%s. GB/s count what a pass must at least read and write.\n", t->op->name);
    for (int i = 0; i < t->n; i++) {
        const struct result *r = &t->at[i];
        bool same = i > 0 && strcmp(r[-1].shape, r->shape) == 0 && r[-1].attrs == r->attrs;
        if (!same)
            str_printf(out, "\ninput %s%s%s\n%-5s %-9s %13s %13s %10s %11s\n", r->shape,
                       r->attrs[0] ? ", keys " : "", r->attrs, "type", "pass", "best ns",
                       "median ns", "best GB/s", "median GB/s");
        str_printf(out, "%-5s %-9s %13.0f %13.0f %10.2f %11.2f\n", dtype_name(r->dtype),
                   r->backward ? "backward" : "forward", 1e9 * r->t.best, 1e9 * r->t.median,
                   1e-9 * r->bytes / r->t.best, 1e-9 * r->bytes / r->t.median);
    }
}

static const char *next_op(const void *context, int i)
{
    (void)context;
    const struct op *op = op_at(i);
    return op ? op->name : NULL;
}

static enum rc find(const char *name, const struct op **out, struct diag *d)
{
    *out = op_find(name);
    if (*out)
        return RC_OK;
    diag_error(d, RC_USAGE, NOWHERE, "bench op: there is no op '%.60s'", name);
    const char *near = str_nearest(name, next_op, NULL);
    if (near)
        diag_note(d, NOWHERE, "did you mean '%s'?", near);
    diag_note(d, NOWHERE, "see: mptrain list ops");
    return RC_USAGE;
}

enum rc bench_op(const struct bench_opts *o, const char *name, struct str *out, struct diag *d)
{
    struct table t = {.o = o};
    enum dtype dtype;
    TRY(find(name, &t.op, d));
    if (o->dtype && (!dtype_from_name(o->dtype, &dtype) || !takes(t.op, dtype) ||
                     (dtype != DTYPE_F32 && !dtype_is_half(dtype))))
        return diag_error(d, RC_USAGE, NOWHERE, "bench op: %s does not run in '%.40s'", name,
                          o->dtype);
    TRY(o->shape || o->attrs ? measure_given(&t, d) : measure_cases(&t, d));
    if (o->json)
        return bench_time_json(as_json(&t), out, d);
    as_text(&t, out);
    return RC_OK;
}
