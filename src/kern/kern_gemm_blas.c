/* kern_gemm_blas.c: blas_f32: operands widened to FP32, rounded to the compute type first, and
 * given to OpenBLAS's cblas_sgemm, one thread per call, called from our own loop over blocks of C.
 * The only file that knows OpenBLAS.
 *
 * OpenBLAS chooses its kernels while it is loaded, and chooses its oldest (Prescott, SSE3) on a CPU
 * that it does not know by number. So it is loaded at the first use, after OPENBLAS_CORETYPE is set
 * by what base/cpu sees, unless the user has set it.
 *
 * Scratch: [B in FP32, where it must be converted and is not packed ahead] [thread 0: A in FP32,
 * sums] [thread 1: ...] */
#include "config.h"

#include "kern/kern_gemm_row.h"

#include "base/par.h"
#include "kern/kern_cast.h"
#include "kern/kern_gemm_gather.h"
#include "kern/kern_vec.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the library -------------------------------------------------------------------------------
 */

enum { ROW_MAJOR = 101, PLAIN = 111, TRANSPOSED = 112 }; /* of the CBLAS interface */

typedef void sgemm_function(int order, int a_trans, int b_trans, int m, int n, int k, float alpha,
                            const float *a, int lda, const float *b, int ldb, float beta, float *c,
                            int ldc);

static struct {
    bool tried;
    sgemm_function *sgemm; /* NULL: not there */
    char core[32];
    char asked[32]; /* OPENBLAS_CORETYPE as the user set it, or empty */
    char note[200];
} blas;

static const char *const core_variable = "OPENBLAS_CORETYPE";

/* The kernels that fit; NULL: leave the choice to OpenBLAS. */
static const char *fitting_core(void)
{
    if (cpu_has(ISA_AVX512))
        return "SkylakeX";
    if (cpu_has(ISA_AVX2))
        return "Haswell";
    return cpu_best() >= ISA_AVX2 ? "Prescott" : NULL; /* capped */
}

/* A function of the library; through memory, as C knows no cast between the two kinds of pointer.
 */
static bool find(void *library, const char *name, void *function)
{
    void *p = dlsym(library, name);
    memcpy(function, &p, sizeof(p));
    return p != NULL;
}

static void load(void)
{
    const char *asked = getenv(core_variable), *fitting = fitting_core();
    void (*set_threads)(int);
    char *(*core_name)(void);
    sgemm_function *sgemm;
    blas.tried = true;
    if (asked)
        snprintf(blas.asked, sizeof(blas.asked), "%s", asked);
    else if (fitting)
        setenv(core_variable, fitting, 1);
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!asked && fitting)
        unsetenv(core_variable);
    if (!library || !find(library, "cblas_sgemm", &sgemm) ||
        !find(library, "openblas_set_num_threads", &set_threads) ||
        !find(library, "openblas_get_corename", &core_name))
        return;
    set_threads(1);
    snprintf(blas.core, sizeof(blas.core), "%s", core_name());
    blas.sgemm = sgemm;
}

static bool loaded(void)
{
    if (!blas.tried)
        load();
    return blas.sgemm != NULL;
}

const char *kern_gemm_blas_core(void)
{
    return loaded() ? blas.core : NULL;
}

/* What the named kernels use. */
static enum isa level_of_core(const char *name)
{
    static const struct {
        const char *name;
        enum isa isa;
    } cores[] = {
        {"SkylakeX", ISA_AVX512}, {"Cooperlake", ISA_AVX512}, {"SapphireRapids", ISA_AVX512},
        {"Haswell", ISA_AVX2},    {"Zen", ISA_AVX2},
    };
    for (size_t i = 0; i < COUNT_OF(cores); i++)
        if (strcmp(name, cores[i].name) == 0)
            return cores[i].isa;
    return ISA_SCALAR;
}

const char *kern_gemm_blas_note(void)
{
    bool wide = cpu_has(ISA_AVX512);
    if (!cpu_has(ISA_AVX2))
        return NULL; /* old kernels are right here */
    if (!loaded())
        return "OpenBLAS (libopenblas.so.0) is not installed: blas_f32 cannot run";
    if (level_of_core(blas.core) >= (wide ? ISA_AVX512 : ISA_AVX2))
        return NULL;
    int used =
        snprintf(blas.note, sizeof(blas.note), "OpenBLAS runs its %s kernels on a CPU with %s",
                 blas.core, wide ? "AVX-512" : "AVX2");
    if (blas.asked[0])
        snprintf(blas.note + used, sizeof(blas.note) - (size_t)used,
                 " (%s=%s is set): blas_f32 is slow", core_variable, blas.asked);
    else
        snprintf(blas.note + used, sizeof(blas.note) - (size_t)used,
                 ", although asked for %s: blas_f32 is slow", fitting_core());
    return blas.note;
}

/* --- operands in FP32 --------------------------------------------------------------------------
 */

static bool in_place(enum dtype stored, enum dtype compute)
{
    return stored == DTYPE_F32 && compute == DTYPE_F32;
}

/* n values as FP32, rounded to the compute type. */
static void widen(float *to, const void *from, int64_t at, int64_t n, enum dtype stored,
                  enum dtype compute)
{
    uint16_t half[KERN_TILE];
    const char *p = (const char *)from + (size_t)at * dtype_size(stored);
    if (compute == DTYPE_F32 || compute == stored) {
        kern_cast(DTYPE_F32, to, stored, p, n);
        return;
    }
    for (int64_t i = 0; i < n; i += KERN_TILE) {
        int64_t some = n - i < KERN_TILE ? n - i : KERN_TILE;
        kern_cast(compute, half, stored, p + (size_t)i * dtype_size(stored), some);
        kern_cast(DTYPE_F32, to + i, compute, half, some);
    }
}

struct widen_job {
    const struct gemm_desc *d;
    const void *b;
    int64_t ldb, length; /* of a stored row */
    float *to;
};

static void widen_row(void *context, int64_t i)
{
    const struct widen_job *job = context;
    widen(job->to + i * job->length, job->b, i * job->ldb, job->length, job->d->b, job->d->compute);
}

/* B as it is stored, without gaps between its rows. */
static void widen_b(const struct gemm_desc *d, int64_t n, int64_t k, const void *b, int64_t ldb,
                    float *to)
{
    struct widen_job job = {d, b, ldb, d->b_trans ? k : n, to};
    par_for(d->b_trans ? n : k, widen_row, &job);
}

struct turn_job {
    const struct gemm_desc *d;
    const char *b;
    int64_t ldb;
    float *to; /* (K,N) */
};

/* One column of a turned kernel, which is stored (taps,N,K/taps). */
static void turn_column(void *context, int64_t j)
{
    const struct turn_job *job = context;
    const struct gemm_desc *d = job->d;
    int64_t tap_k = d->k / d->b_taps;
    float tile[KERN_TILE];
    for (int64_t tap = 0; tap < d->b_taps; tap++)
        for (int64_t k = 0; k < tap_k; k += KERN_TILE) {
            int64_t n = tap_k - k < KERN_TILE ? tap_k - k : KERN_TILE;
            float *to = job->to + (tap * tap_k + k) * d->n + j;
            widen(tile, job->b, ((d->b_taps - 1 - tap) * d->n + j) * job->ldb + k, n, d->b,
                  d->compute);
            for (int64_t i = 0; i < n; i++)
                to[i * d->n] = tile[i];
        }
}

/* B as sgemm reads it, in FP32. */
static void prepare_b(const struct gemm_desc *d, int64_t n, int64_t k, const void *b, int64_t ldb,
                      float *to)
{
    struct turn_job job = {d, b, ldb, to};
    if (d->b_taps > 0)
        par_for(n, turn_column, &job);
    else
        widen_b(d, n, k, b, ldb, to);
}

/* --- blocks ------------------------------------------------------------------------------------
 */

enum {
    MOST_ROWS = 256, /* of a block of C */
    MOST_COLS = KERN_TILE,
    WANTED_BLOCKS = 8,
    LEAST_WORK = 8 << 20, /* products that are worth a block of their own */
    MOST_K = 512,         /* converted at a time */
};

struct job {
    const struct gemm_desc *d;
    const struct gemm_args *g;
    const float *b;
    int64_t ldb;
    int64_t rows, cols, down, across, k_step;
    bool direct; /* OpenBLAS writes C itself */
    char *scratch;
    size_t scratch_step;
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void cut_c(struct job *job)
{
    int64_t m = job->g->m, n = job->g->n, k = job->g->k;
    job->rows = least(m, MOST_ROWS);
    job->cols = least(n, MOST_COLS);
    for (;;) {
        job->down = (m + job->rows - 1) / job->rows;
        job->across = (n + job->cols - 1) / job->cols;
        if (job->down * job->across >= WANTED_BLOCKS || job->rows * job->cols * k < 2 * LEAST_WORK)
            return;
        if (job->rows >= job->cols)
            job->rows = (job->rows + 1) / 2;
        else
            job->cols = (job->cols + 1) / 2;
    }
}

/* Rows and columns of the matrix of patches, in FP32; halves wait behind the room. */
static void gather(const struct job *job, int64_t row, int64_t rows, int64_t col, int64_t cols,
                   float *room)
{
    const struct gemm_desc *d = job->d;
    const struct gemm_part block = {row, rows, col, cols};
    const struct gather_layout layout = {cols, cols, cols};
    bool as_stored = in_place(d->a, d->compute);
    void *to = as_stored ? (void *)room : (void *)(room + MOST_ROWS * (MOST_K + MOST_COLS));
    kern_gemm_gather(&d->patches, job->g->a, dtype_size(d->a), &block, &layout, to);
    if (!as_stored)
        widen(room, to, 0, rows * cols, d->a, d->compute);
}

/* Rows row .. row+n-1 of op(A), k .. k+n_k-1, as they are stored, in FP32. */
static const float *a_block(const struct job *job, int64_t row, int64_t n, int64_t k, int64_t n_k,
                            float *room, int64_t *ld)
{
    const struct gemm_desc *d = job->d;
    int64_t outer = d->a_trans ? k : row, n_outer = d->a_trans ? n_k : n;
    int64_t inner = d->a_trans ? row : k, n_inner = d->a_trans ? n : n_k;
    if (d->patches.kernel_h > 0) {
        gather(job, outer, n_outer, inner, n_inner, room);
        *ld = n_inner;
        return room;
    }
    if (in_place(d->a, d->compute)) {
        *ld = job->g->lda;
        return (const float *)job->g->a + outer * job->g->lda + inner;
    }
    for (int64_t i = 0; i < n_outer; i++)
        widen(room + i * n_inner, job->g->a, (outer + i) * job->g->lda + inner, n_inner, d->a,
              d->compute);
    *ld = n_inner;
    return room;
}

/* One row of a block: what is left to do after the product. */
static void finish_row(const struct job *job, int64_t row, int64_t col, int64_t n, float *sum)
{
    const struct gemm_desc *d = job->d;
    const struct vec_row *v = kern_vec();
    size_t at = (size_t)(row * job->g->ldc + col) * dtype_size(d->c);
    char *c = (char *)job->g->c + at;
    if (job->g->add && !job->direct) {
        float old[KERN_TILE];
        kern_cast(DTYPE_F32, old, d->c, c, n);
        v->add(n, sum, old, sum);
    }
    if (d->bias)
        v->add(n, sum, job->g->bias + col, sum);
    if (job->g->pre)
        kern_cast(d->c, (char *)job->g->pre + at, DTYPE_F32, sum, n);
    if (d->act == GEMM_ACT_RELU)
        v->relu(n, sum, sum);
    else
        kern_gemm_activate(d->act, n, sum);
    if (!job->direct)
        kern_cast(d->c, c, DTYPE_F32, sum, n);
}

static void one_block(void *context, int64_t index)
{
    const struct job *job = context;
    const struct gemm_desc *d = job->d;
    const struct gemm_args *g = job->g;
    int64_t row = index % job->down * job->rows, col = index / job->down * job->cols;
    int64_t m = least(job->rows, g->m - row), n = least(job->cols, g->n - col);
    float *room = (float *)(void *)(job->scratch + (size_t)par_thread() * job->scratch_step);
    float *sum = room + MOST_ROWS * MOST_K;
    int64_t ld_sum = n;
    if (job->direct) {
        sum = (float *)g->c + row * g->ldc + col;
        ld_sum = g->ldc;
    }
    for (int64_t k = 0; k == 0 || k < g->k; k += job->k_step) {
        int64_t n_k = least(job->k_step, g->k - k), lda;
        const float *a = a_block(job, row, m, k, n_k, room, &lda);
        const float *b = job->b + (d->b_trans ? col * job->ldb + k : k * job->ldb + col);
        bool resume = k > 0 || (job->direct && g->add);
        blas.sgemm(ROW_MAJOR, d->a_trans ? TRANSPOSED : PLAIN, d->b_trans ? TRANSPOSED : PLAIN,
                   (int)m, (int)n, (int)n_k, 1, a, (int)lda, b, (int)job->ldb, resume ? 1 : 0, sum,
                   (int)ld_sum);
    }
    if (job->direct && !d->bias && d->act == GEMM_ACT_NONE)
        return;
    for (int64_t i = 0; i < m; i++)
        finish_row(job, row + i, col, n, sum + i * ld_sum);
}

/* --- the row -----------------------------------------------------------------------------------
 */

/* B needs no preparation. */
static bool reads_b(const struct gemm_desc *d)
{
    return in_place(d->b, d->compute) && d->b_taps == 0;
}

static size_t b_bytes(const struct gemm_desc *d)
{
    return reads_b(d) ? 0 : (size_t)d->k * (size_t)d->n * sizeof(float);
}

static size_t aligned(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}

/* A and sums; of patches also A as it is stored. */
static size_t thread_bytes(const struct gemm_desc *d)
{
    size_t gathered = d->patches.kernel_h > 0 ? (size_t)MOST_ROWS * MOST_K : 0;
    return ((size_t)MOST_ROWS * (MOST_K + MOST_COLS) + gathered) * sizeof(float);
}

static size_t packed_bytes(const struct gemm_plan *p)
{
    return b_bytes(&p->desc);
}

static size_t scratch_bytes(const struct gemm_plan *p)
{
    size_t b = p->desc.b_is_weight ? 0 : aligned(b_bytes(&p->desc));
    return b + thread_bytes(&p->desc) * (size_t)p->threads;
}

static void pack(const struct gemm_plan *p, const void *b, int64_t ldb, void *packed)
{
    prepare_b(&p->desc, p->desc.n, p->desc.k, b, ldb, packed);
}

static void run(const struct gemm_plan *p, const struct gemm_args *args)
{
    const struct gemm_desc *d = &p->desc;
    struct job job = {.d = d, .g = args, .b = args->b, .ldb = args->ldb, .scratch = args->scratch};
    if (!reads_b(d)) {
        job.ldb = d->b_trans ? args->k : args->n;
        if (!d->b_is_weight) {
            prepare_b(d, args->n, args->k, args->b, args->ldb, args->scratch);
            job.b = args->scratch;
            job.scratch += aligned(b_bytes(d));
        }
    }
    bool whole = in_place(d->a, d->compute) && d->patches.kernel_h == 0 && args->k > 0;
    job.k_step = whole ? args->k : MOST_K;
    job.direct = d->c == DTYPE_F32;
    job.scratch_step = thread_bytes(d);
    cut_c(&job);
    par_for(job.down * job.across, one_block, &job);
}

static const char *accepts(const struct gemm_desc *d)
{
    if (d->m > INT32_MAX || d->n > INT32_MAX || d->k > INT32_MAX)
        return "a dimension is above 2^31 - 1";
    return loaded() ? NULL : "OpenBLAS (libopenblas.so.0) cannot be loaded";
}

const struct gemm_row kern_gemm_blas = {
    .name = "blas_f32",
    .help = "FP32 blocks, OpenBLAS's sgemm",
    .isa = ISA_SCALAR,
    .accepts = accepts,
    .packed_bytes = packed_bytes,
    .scratch_bytes = scratch_bytes,
    .pack = pack,
    .run = run,
};
