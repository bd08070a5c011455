/* test_gemm_gather.c: the three products of a convolution on every row of kern_gemm, whose operand
 * A is gathered from an image: against plain loops over images, with small integers, bit for bit.
 */
#include "config.h"

#include "gemm_case.h"

#include "base/cpu.h"
#include "base/half.h"
#include "base/par.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 3, LARGE = 30000 /* elements: then not every pair of types */ };

/* A convolution: image (BATCH,h,w,pixel), of which c channels from `skip` on take part. */
struct geometry {
    int64_t h, w, c, pixel, skip, filters;
    int64_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w, pad_h, pad_w;
    int64_t out_h, out_w;
};

static const struct geometry geometries[] = {
    {5, 6, 1, 1, 0, 3, 3, 3, 1, 1, 1, 1, 1, 1, 5, 6},
    {7, 5, 32, 32, 0, 34, 3, 3, 1, 1, 1, 1, 1, 1, 7, 5},
    {6, 9, 3, 3, 0, 33, 5, 2, 2, 3, 1, 1, 2, 0, 3, 3},
    {9, 8, 20, 40, 20, 7, 3, 3, 1, 2, 2, 1, 2, 1, 9, 4},
    {1, 40, 64, 64, 0, 16, 1, 7, 1, 1, 1, 1, 0, 3, 1, 40},
    {4, 4, 100, 100, 0, 10, 3, 3, 2, 2, 1, 1, 0, 0, 2, 2},   /* some pixels are never seen */
    {3, 3, 5, 5, 0, 40, 3, 3, 1, 1, 3, 3, 3, 3, 3, 3},       /* mostly padding */
    {37, 37, 32, 32, 0, 33, 3, 2, 1, 1, 1, 1, 1, 1, 37, 37}, /* K is long enough to be split */
    {37, 39, 32, 64, 32, 34, 1, 3, 1, 1, 2, 3, 0, 2, 37, 37},
    {28, 28, 8, 8, 0, 9, 3, 3, 1, 1, 1, 1, 1, 1, 28, 28},
};
enum { N_GEOMETRIES = COUNT_OF(geometries) };

enum product { FORWARD, D_INPUT, D_WEIGHT, N_PRODUCTS };

static float small(int64_t i, int64_t salt)
{
    return (float)((i * 7 + i / 5 + salt * 3) % 7 - 3);
}

static void put(void *p, int64_t at, enum dtype t, float x)
{
    if (t == DTYPE_F32)
        ((float *)p)[at] = x;
    else
        ((uint16_t *)p)[at] = t == DTYPE_BF16 ? half_f32_to_bf16(x) : half_f32_to_f16(x);
}

struct buffers {
    int64_t n_image, n_map, n_weight;
    float *image, *map, *weight; /* f32 */
    void *image_store, *map_store;
};

static void *room(int64_t bytes)
{
    void *p = aligned_alloc(64, (size_t)(bytes + 127) / 64 * 64);
    ck_assert_ptr_nonnull(p);
    return p;
}

static void buffers_init(struct buffers *b, const struct geometry *g, enum dtype t)
{
    b->n_image = BATCH * g->h * g->w * g->pixel;
    b->n_map = BATCH * g->out_h * g->out_w * g->filters;
    b->n_weight = g->kernel_h * g->kernel_w * g->c * g->filters;
    b->image = room(b->n_image * 4);
    b->map = room(b->n_map * 4);
    b->weight = room(b->n_weight * 4);
    b->image_store = room(b->n_image * 4);
    b->map_store = room(b->n_map * 4);
    for (int64_t i = 0; i < b->n_image; i++)
        put(b->image_store, i, t, b->image[i] = small(i, 1));
    for (int64_t i = 0; i < b->n_map; i++)
        put(b->map_store, i, t, b->map[i] = small(i, 2));
    for (int64_t i = 0; i < b->n_weight; i++)
        b->weight[i] = small(i, 3);
}

static void buffers_release(struct buffers *b)
{
    free(b->image);
    free(b->map);
    free(b->weight);
    free(b->image_store);
    free(b->map_store);
}

/* What is wanted, by the definition: each pair of pixels that see one another, in FP64. */
static double *wanted(const struct geometry *g, const struct buffers *b, enum product p, int64_t *n)
{
    *n = p == FORWARD ? b->n_map : p == D_INPUT ? BATCH * g->h * g->w * g->c : b->n_weight;
    double *out = calloc((size_t)*n, sizeof(*out));
    ck_assert_ptr_nonnull(out);
    for (int64_t i = 0; i < BATCH; i++)
        for (int64_t oy = 0; oy < g->out_h; oy++)
            for (int64_t ox = 0; ox < g->out_w; ox++)
                for (int64_t ky = 0; ky < g->kernel_h; ky++)
                    for (int64_t kx = 0; kx < g->kernel_w; kx++) {
                        int64_t y = oy * g->stride_h - g->pad_h + ky * g->dilation_h;
                        int64_t x = ox * g->stride_w - g->pad_w + kx * g->dilation_w;
                        if (y < 0 || x < 0 || y >= g->h || x >= g->w)
                            continue;
                        int64_t pixel = (i * g->h + y) * g->w + x;
                        int64_t spot = (i * g->out_h + oy) * g->out_w + ox;
                        for (int64_t c = 0; c < g->c; c++)
                            for (int64_t f = 0; f < g->filters; f++) {
                                int64_t w = ((ky * g->kernel_w + kx) * g->c + c) * g->filters + f;
                                double v = b->image[pixel * g->pixel + g->skip + c];
                                double m = b->map[spot * g->filters + f];
                                if (p == FORWARD)
                                    out[spot * g->filters + f] += v * b->weight[w];
                                else if (p == D_INPUT)
                                    out[pixel * g->c + c] += m * b->weight[w];
                                else
                                    out[w] += v * m;
                            }
                    }
    return out;
}

static struct gemm_desc describe(const struct geometry *g, enum product p, enum dtype store,
                                 enum dtype compute)
{
    struct gemm_patches image = {.h = g->h,
                                 .w = g->w,
                                 .c = g->c,
                                 .pixel = g->pixel,
                                 .out_h = g->out_h,
                                 .out_w = g->out_w,
                                 .kernel_h = g->kernel_h,
                                 .kernel_w = g->kernel_w,
                                 .stride_h = g->stride_h,
                                 .stride_w = g->stride_w,
                                 .dilation_h = g->dilation_h,
                                 .dilation_w = g->dilation_w,
                                 .pad_h = g->pad_h,
                                 .pad_w = g->pad_w,
                                 .spread_h = 1,
                                 .spread_w = 1};
    struct gemm_patches map = {.h = g->out_h,
                               .w = g->out_w,
                               .c = g->filters,
                               .pixel = g->filters,
                               .out_h = g->h,
                               .out_w = g->w,
                               .kernel_h = g->kernel_h,
                               .kernel_w = g->kernel_w,
                               .stride_h = 1,
                               .stride_w = 1,
                               .dilation_h = g->dilation_h,
                               .dilation_w = g->dilation_w,
                               .pad_h = (g->kernel_h - 1) * g->dilation_h - g->pad_h,
                               .pad_w = (g->kernel_w - 1) * g->dilation_w - g->pad_w,
                               .spread_h = g->stride_h,
                               .spread_w = g->stride_w};
    int64_t taps = g->kernel_h * g->kernel_w;
    struct gemm_desc d = {.a = store, .b = DTYPE_F32, .c = DTYPE_F32, .compute = compute};
    d.patches = p == D_INPUT ? map : image;
    d.m = p == FORWARD ? BATCH * g->out_h * g->out_w : BATCH * g->h * g->w;
    d.n = p == D_INPUT ? g->c : g->filters;
    d.k = taps * (p == D_INPUT ? g->filters : g->c);
    d.b_taps = p == D_INPUT ? taps : 0;
    d.b_is_weight = p != D_WEIGHT;
    if (p == D_WEIGHT) {
        d.m = d.k;
        d.k = BATCH * g->out_h * g->out_w;
        d.a_trans = true;
        d.b = store;
    }
    return d;
}

/* C (M,N), or NULL where the row refuses. */
static float *run(const struct gemm_desc *d, const struct geometry *g, const struct buffers *b,
                  enum product p, const char *row)
{
    struct gemm_plan plan;
    const char *reason;
    if (!kern_gemm_plan_row(&plan, d, row, &reason))
        return NULL;
    size_t item = dtype_size(d->a);
    void *packed = room((int64_t)plan.packed_bytes), *scratch = room((int64_t)plan.scratch_bytes);
    float *c = room(d->m * d->n * 4);
    for (int64_t i = 0; i < d->m * d->n; i++)
        c[i] = NAN;
    const void *w = p == D_WEIGHT ? b->map_store : b->weight;
    kern_gemm_pack(&plan, w, g->filters, packed);
    struct gemm_args args = {.m = d->m,
                             .n = d->n,
                             .k = d->k,
                             .a = p == D_INPUT ? b->map_store
                                               : (char *)b->image_store + (size_t)g->skip * item,
                             .b = plan.packed_bytes ? packed : w,
                             .ldb = g->filters,
                             .c = c,
                             .ldc = d->n,
                             .scratch = scratch};
    kern_gemm_run(&plan, &args);
    free(packed);
    free(scratch);
    return c;
}

static void check_product(const struct geometry *g, const struct buffers *b, enum product p,
                          enum dtype store, enum dtype compute)
{
    struct gemm_desc d = describe(g, p, store, compute);
    const char *row;
    int64_t n;
    double *want = wanted(g, b, p, &n);
    for (int i = 0; (row = kern_gemm_row_name(i)) != NULL; i++) {
        if (b->n_image >= LARGE && strcmp(row, "ref") == 0)
            continue; /* it takes seconds, and is tested by the others */
        float *got = run(&d, g, b, p, row);
        for (int64_t k = 0; got && k < n; k++)
            ck_assert_msg((double)got[k] == want[k],
                          "geometry %d product %d %s stored %s computed %s: [%lld] is %g, not %g",
                          (int)(g - geometries), p, row, dtype_name(store), dtype_name(compute),
                          (long long)k, (double)got[k], want[k]);
        free(got);
    }
    free(want);
}

START_TEST(bits)
{
    const struct geometry *g = &geometries[_i];
    for (int s = 0; s < GEMM_N_TYPES; s++) {
        struct buffers b;
        buffers_init(&b, g, gemm_types[s]);
        for (int p = 0; p < N_PRODUCTS; p++)
            for (int c = 0; c < GEMM_N_TYPES; c++)
                if (s == c || b.n_image < LARGE)
                    check_product(g, &b, (enum product)p, gemm_types[s], gemm_types[c]);
        buffers_release(&b);
    }
}
END_TEST

/* A NaN pixel in one image reaches what sees it, and no other image. */
START_TEST(nan_stays_in_its_image)
{
    const struct geometry *g = &geometries[1];
    const char *row;
    for (int t = 0; t < GEMM_N_TYPES; t++) {
        struct buffers b;
        buffers_init(&b, g, gemm_types[t]);
        put(b.image_store, g->h * g->w * g->pixel, gemm_types[t], NAN); /* corner of image 1 */
        struct gemm_desc d = describe(g, FORWARD, gemm_types[t], gemm_types[t]);
        for (int i = 0; (row = kern_gemm_row_name(i)) != NULL; i++) {
            float *got = run(&d, g, &b, FORWARD, row);
            for (int64_t k = 0; got && k < b.n_map; k++) {
                int64_t spot = k / g->filters, x = spot % g->out_w, y = spot / g->out_w % g->out_h;
                bool sees = spot / g->out_w / g->out_h == 1 && x < 2 && y < 2;
                ck_assert_msg(isnan(got[k]) == sees, "%s: [%lld] is %g", row, (long long)k,
                              (double)got[k]);
            }
            free(got);
        }
        buffers_release(&b);
    }
}
END_TEST

/* Sums of numbers that round: the same bits for every number of threads. */
START_TEST(threads)
{
    const struct geometry *g = &geometries[N_GEOMETRIES - 1 - _i];
    const char *row;
    struct buffers b;
    buffers_init(&b, g, DTYPE_BF16);
    for (int64_t i = 0; i < b.n_image; i++)
        put(b.image_store, i, DTYPE_BF16, sinf((float)i));
    for (int p = 0; p < N_PRODUCTS; p++) {
        struct gemm_desc d = describe(g, (enum product)p, DTYPE_BF16, DTYPE_BF16);
        for (int i = 0; (row = kern_gemm_row_name(i)) != NULL; i++) {
            if (strcmp(row, "ref") == 0)
                continue;
            par_set_threads(1);
            float *one = run(&d, g, &b, (enum product)p, row);
            par_set_threads(3);
            float *three = run(&d, g, &b, (enum product)p, row);
            if (one)
                ck_assert_mem_eq(one, three, (size_t)(d.m * d.n) * sizeof(float));
            free(one);
            free(three);
        }
    }
    buffers_release(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("gemm_gather");
    TCase *c = tcase_create("all");
    tcase_set_timeout(c, 120);
    tcase_add_checked_fixture(c, gemm_case_setup, NULL);
    tcase_add_loop_test(c, bits, 0, N_GEOMETRIES);
    tcase_add_test(c, nan_stays_in_its_image);
    tcase_add_loop_test(c, threads, 0, 3);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
