/* kern_gemm.c: THE table of GEMM rows, best first, and the choice among them. A row is chosen when
 * the plan is made; the step loop only calls kern_gemm_run.
 *
 * Invariant: the last row accepts everything, so a plan always has a row.
 * To add a row: kern_gemm_row.h; then a line here, before the rows that it beats. */
#include "config.h"

#include "kern/kern_gemm.h"

#include "base/diag.h"
#include "base/par.h"
#include "kern/kern_gemm_block.h"
#include "kern/kern_gemm_row.h"
#include "kern/kern_vec.h"

#include <stddef.h>
#include <string.h>

/* A row whose instructions the compiler did not know stays in the table, to be named and refused
 * by its level. */
#define ABSENT(row_name, level)                                                                    \
    (&(const struct gemm_row){                                                                     \
        .name = row_name, .help = "not built: the compiler did not know it", .isa = level})

static const struct gemm_row *const rows[] = {
#ifdef HAVE_AMX
    &kern_gemm_amx_bf16,    &kern_gemm_amx_f16x2,
#else
    ABSENT("amx_bf16", ISA_AMX),
    ABSENT("amx_f16x2", ISA_AMX),
#endif
#ifdef HAVE_AVX512_BF16
    &kern_gemm_avx512_bf16,
#else
    ABSENT("avx512_bf16", ISA_AVX512_BF16),
#endif
#ifdef HAVE_AVX512
    &kern_gemm_avx512,
#else
    ABSENT("avx512_f32", ISA_AVX512),
#endif
#ifdef HAVE_AVX2
    &kern_gemm_avx2,
#else
    ABSENT("avx2_f32", ISA_AVX2),
#endif
    &kern_gemm_blas,        &kern_gemm_ref,
};

enum { N_ROWS = COUNT_OF(rows) };
_Static_assert((int)N_ROWS <= (int)GEMM_MAX_ROWS, "struct gemm_plan holds a refusal for each row");

static const char *refusal(const struct gemm_row *row, const struct gemm_desc *d)
{
    const char *missing = cpu_missing(row->isa);
    return missing ? missing : row->accepts(d);
}

static void take(struct gemm_plan *out, const struct gemm_row *row)
{
    out->row = row;
    out->threads = par_threads();
    if (out->desc.b_is_weight)
        out->packed_bytes = row->block ? kern_gemm_block_packed_bytes(out) : row->packed_bytes(out);
    out->scratch_bytes = row->block ? kern_gemm_block_scratch_bytes(out) : row->scratch_bytes(out);
}

void kern_gemm_plan(struct gemm_plan *out, const struct gemm_desc *desc)
{
    memset(out, 0, sizeof(*out));
    out->desc = *desc;
    for (int i = 0; i < N_ROWS; i++) {
        const char *reason = refusal(rows[i], desc);
        if (!reason && rows[i]->slow_on && strstr(cpu_name(), rows[i]->slow_on))
            reason = rows[i]->slow_reason;
        if (!reason) {
            take(out, rows[i]);
            return;
        }
        out->refused[out->n_refused++] = (struct gemm_refusal){rows[i]->name, reason};
    }
    BUG_IF("no GEMM row accepts");
}

bool kern_gemm_plan_row(struct gemm_plan *out, const struct gemm_desc *desc, const char *row,
                        const char **reason)
{
    memset(out, 0, sizeof(*out));
    out->desc = *desc;
    *reason = "there is no such row";
    for (int i = 0; i < N_ROWS; i++) {
        if (strcmp(rows[i]->name, row) != 0)
            continue;
        *reason = refusal(rows[i], desc);
        if (*reason)
            return false;
        take(out, rows[i]);
        return true;
    }
    return false;
}

void kern_gemm_pack(const struct gemm_plan *p, const void *b, int64_t ldb, void *packed)
{
    if (p->packed_bytes == 0)
        return;
    if (p->row->block)
        kern_gemm_block_pack(p, b, ldb, packed);
    else
        p->row->pack(p, b, ldb, packed);
}

bool kern_gemm_packs_parts(const struct gemm_plan *p)
{
    return p->packed_bytes > 0 && p->row->block && p->desc.b_taps == 0;
}

void kern_gemm_pack_begin(const struct gemm_plan *p, void *packed)
{
    BUG_IF(!kern_gemm_packs_parts(p));
    kern_gemm_block_pack_begin(p, packed);
}

void kern_gemm_pack_part(const struct gemm_plan *p, const void *b, int64_t ldb, void *packed,
                         const struct gemm_part *part)
{
    kern_gemm_block_pack_part(p, b, ldb, packed, part);
}

void kern_gemm_run(const struct gemm_plan *p, const struct gemm_args *args)
{
    const struct gemm_desc *d = &p->desc;
    BUG_IF(args->m > d->m || args->n > d->n || args->k > d->k);
    BUG_IF(p->packed_bytes > 0 && (args->n != d->n || args->k != d->k));
    BUG_IF(p->scratch_bytes > 0 && par_threads() > p->threads);
    BUG_IF(args->pre && !kern_gemm_act_is_curved(d->act));
    if (args->m == 0 || args->n == 0)
        return;
    if (p->row->block)
        kern_gemm_block_run(p, args);
    else
        p->row->run(p, args);
}

typedef void act_fn(int64_t n, const float *x, float *out);
typedef void act_grad_fn(int64_t n, const float *saved, const float *dy, float *out);

/* The activations in kern_vec. */
static const struct {
    size_t f, grad; /* offsets in struct vec_row */
    bool reads_out;
} acts[] = {
    [GEMM_ACT_RELU] = {offsetof(struct vec_row, relu), offsetof(struct vec_row, relu_grad), true},
    [GEMM_ACT_GELU] = {offsetof(struct vec_row, gelu), offsetof(struct vec_row, gelu_grad), false},
    [GEMM_ACT_GELU_TANH] = {offsetof(struct vec_row, gelu_tanh),
                            offsetof(struct vec_row, gelu_tanh_grad), false},
    [GEMM_ACT_SILU] = {offsetof(struct vec_row, silu), offsetof(struct vec_row, silu_grad), false},
    [GEMM_ACT_TANH] = {offsetof(struct vec_row, tanh), offsetof(struct vec_row, tanh_grad), true},
    [GEMM_ACT_SIGMOID] = {offsetof(struct vec_row, sigmoid), offsetof(struct vec_row, sigmoid_grad),
                          true},
};

bool kern_gemm_act_is_curved(enum gemm_act act)
{
    return act != GEMM_ACT_NONE && act != GEMM_ACT_RELU;
}

bool kern_gemm_act_reads_out(enum gemm_act act)
{
    return acts[act].reads_out;
}

void kern_gemm_activate(enum gemm_act act, int64_t n, float *x)
{
    act_fn *f;
    if (!kern_gemm_act_is_curved(act))
        return;
    memcpy(&f, (const char *)kern_vec() + acts[act].f, sizeof(f));
    f(n, x, x);
}

void kern_gemm_act(enum gemm_act act, int64_t n, float *x)
{
    if (act == GEMM_ACT_RELU)
        kern_vec()->relu(n, x, x);
    else
        kern_gemm_activate(act, n, x);
}

void kern_gemm_act_grad(enum gemm_act act, int64_t n, const float *saved, const float *dy,
                        float *out)
{
    act_grad_fn *f;
    memcpy(&f, (const char *)kern_vec() + acts[act].grad, sizeof(f));
    f(n, saved, dy, out);
}

const char *kern_gemm_row_name(int i)
{
    return i >= 0 && i < N_ROWS ? rows[i]->name : NULL;
}

const char *kern_gemm_row_help(int i)
{
    return i >= 0 && i < N_ROWS ? rows[i]->help : NULL;
}

bool kern_gemm_row_flushes(int i)
{
    return i >= 0 && i < N_ROWS && rows[i]->flushes;
}

const char *kern_gemm_name(const struct gemm_plan *p)
{
    return p->row->name;
}
