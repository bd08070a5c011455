/* bench_gemm.c: `mptrain bench gemm`: every row that can run one product, and why the others
 * cannot. The weight is packed once, before the clock starts, as a step packs it once per update.
 *
 * Invariant: a row that is asked for is either measured or refused with its reason. */
#include "config.h"

#include "bench/bench.h"

#include "base/cpu.h"
#include "base/par.h"
#include "bench/bench_product.h"

#include <string.h>

static const enum dtype types[] = {DTYPE_F32, DTYPE_BF16, DTYPE_F16};

enum { N_TYPES = COUNT_OF(types), MAX_RESULTS = N_TYPES * GEMM_MAX_ROWS };

struct result {
    const char *row;
    enum dtype dtype;
    double best, median; /* FLOP/s */
    double pack;         /* seconds; 0: nothing to pack */
};

struct refused {
    const char *row, *reason;
    char text[200]; /* reason, with the type where the types differ */
};

struct table {
    const struct bench_opts *o;
    bool wanted[N_TYPES];
    int n, n_refused;
    struct bench_product products[MAX_RESULTS];
    struct result at[MAX_RESULTS];
    struct refused refused[MAX_RESULTS];
};

static enum rc read_types(struct table *t, struct diag *d)
{
    enum dtype only = DTYPE_F32;
    if (t->o->dtype &&
        (!dtype_from_name(t->o->dtype, &only) || (only != DTYPE_F32 && !dtype_is_half(only))))
        return diag_error(d, RC_USAGE, NOWHERE, "bench: --dtype is fp32, bf16 or fp16, not '%.40s'",
                          t->o->dtype);
    for (int i = 0; i < N_TYPES; i++)
        t->wanted[i] = !t->o->dtype || types[i] == only;
    return RC_OK;
}

/* Refusals of a row: one, where all types that were asked for are refused alike. */
static void refuse(struct table *t, const char *row, const char *const reasons[N_TYPES])
{
    const char *first = NULL;
    bool alike = true;
    for (int i = 0; i < N_TYPES; i++) {
        if (!t->wanted[i])
            continue;
        first = first ? first : reasons[i];
        alike = alike && reasons[i] && first && strcmp(reasons[i], first) == 0;
    }
    for (int i = 0; i < N_TYPES; i++) {
        if (!t->wanted[i] || !reasons[i])
            continue;
        struct refused *r = &t->refused[t->n_refused++];
        r->row = row;
        if (alike)
            snprintf(r->text, sizeof(r->text), "%s", reasons[i]);
        else
            snprintf(r->text, sizeof(r->text), "%s: %s", dtype_name(types[i]), reasons[i]);
        if (alike)
            return;
    }
}

/* Plans a row's products, which are to be timed with those of the others; or refuses it. */
static void enter_row(struct table *t, const char *row)
{
    const char *reasons[N_TYPES] = {NULL};
    const int64_t mnk[] = {t->o->m, t->o->n, t->o->k};
    for (int i = 0; i < N_TYPES; i++) {
        struct bench_product *p = &t->products[t->n];
        if (!t->wanted[i] || !bench_product_plan(p, types[i], row, mnk, &reasons[i]))
            continue;
        p->pack = t->o->pack;
        t->at[t->n++] = (struct result){.row = row, .dtype = types[i]};
    }
    refuse(t, row, reasons);
}

/* All of them in turn: a ratio of two rows is of the same minutes. */
static enum rc measure(struct table *t, struct diag *d)
{
    struct bench_product *products[MAX_RESULTS];
    struct bench_times run[MAX_RESULTS];
    for (int i = 0; i < t->n; i++) {
        products[i] = &t->products[i];
        TRY(bench_product_bind(products[i], d));
    }
    TRY(bench_product_turns(products, t->n, t->o->ms, run, d));
    for (int i = 0; i < t->n; i++) {
        t->at[i].best = bench_product_flops(products[i]) / run[i].best;
        t->at[i].median = bench_product_flops(products[i]) / run[i].median;
        t->at[i].pack = t->o->json ? 0 : bench_product_pack(products[i], t->o->ms).best;
    }
    return RC_OK;
}

static json_t *as_json(const struct table *t)
{
    const struct bench_opts *o = t->o;
    json_t *rows = json_array(), *refused = json_array();
    for (int i = 0; i < t->n; i++) {
        const struct result *r = &t->at[i];
        json_array_append_new(rows,
                              json_pack("{s:s, s:s, s:I, s:I, s:I, s:f, s:f}", "row", r->row,
                                        "dtype", dtype_name(r->dtype), "m", (json_int_t)o->m, "n",
                                        (json_int_t)o->n, "k", (json_int_t)o->k, "best_gflops",
                                        1e-9 * r->best, "median_gflops", 1e-9 * r->median));
    }
    for (int i = 0; i < t->n_refused; i++)
        json_array_append_new(refused, json_pack("{s:s, s:s}", "row", t->refused[i].row, "reason",
                                                 t->refused[i].text));
    return json_pack("{s:s, s:i, s:o, s:o}", "cpu", cpu_name(), "threads", par_threads(), "rows",
                     rows, "refused", refused);
}

static void as_text(const struct table *t, struct str *out)
{
    const struct bench_opts *o = t->o;
    double fp32 = 0;
    for (int i = 0; i < t->n; i++)
        if (t->at[i].dtype == DTYPE_F32 && t->at[i].best > fp32)
            fp32 = t->at[i].best;
    bench_time_machine(out);
    str_printf(out,
               "C (M,N) = A (M,K) B (K,N); M %lld, N %lld, K %lld. B is a weight in FP32, %s.\n",
               (long long)o->m, (long long)o->n, (long long)o->k,
               o->pack ? "packed anew for each product, and that counts"
                       : "packed once, before the clock starts, as in a step");
    const char *note = kern_gemm_blas_note();
    if (note)
        str_printf(out, "%s\n", note);
    if (t->n > 0)
        str_printf(out, "\n%-12s %-5s %13s %15s %11s%s\n", "row", "type", "best GFLOP/s",
                   "median GFLOP/s", "packing ms", fp32 > 0 ? "  best / best fp32" : "");
    for (int i = 0; i < t->n; i++) {
        const struct result *r = &t->at[i];
        str_printf(out, "%-12s %-5s %13.1f %15.1f %11.3f", r->row, dtype_name(r->dtype),
                   1e-9 * r->best, 1e-9 * r->median, 1e3 * r->pack);
        if (fp32 > 0)
            str_printf(out, "  %.2f", r->best / fp32);
        str_puts(out, "\n");
    }
    for (int i = 0; i < t->n_refused; i++)
        str_printf(out, "%s%-12s %s\n", i == 0 ? "\nrefused\n" : "", t->refused[i].row,
                   t->refused[i].text);
}

enum rc bench_gemm(const struct bench_opts *o, struct str *out, struct diag *d)
{
    struct table t = {.o = o};
    const char *name;
    TRY(read_types(&t, d));
    TRY(bench_rows_check(o, "gemm", kern_gemm_row_name, d));
    for (int i = 0; (name = kern_gemm_row_name(i)) != NULL; i++)
        if (bench_rows_wants(o, name))
            enter_row(&t, name);
    enum rc rc = t.n > 0 ? measure(&t, d) : RC_OK;
    for (int i = 0; i < t.n; i++)
        bench_product_release(&t.products[i]);
    TRY(rc);
    if (o->json)
        return bench_time_json(as_json(&t), out, d);
    as_text(&t, out);
    return RC_OK;
}
