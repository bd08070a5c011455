/* test_checkpoint.c: checkpoints keep every bit, refuse every damage, and survive failing writes.
 */
#include "config.h"

#include "checkpoint/checkpoint.h"

#include "base/par.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static char folder[64];
static struct diag d;

static void setup(void)
{
    strcpy(folder, "/tmp/test_checkpoint-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    diag_init(&d);
    par_set_threads(1);
}

static const char *in_folder(const char *name)
{
    static char path[4][384];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof(path[turn]), "%s/%s", folder, name);
    return path[turn];
}

static int count_files(void)
{
    int n = 0;
    DIR *dir = opendir(folder);
    ck_assert_ptr_nonnull(dir);
    const struct dirent *item;
    while ((item = readdir(dir)) != NULL)
        n += item->d_name[0] != '.';
    closedir(dir);
    return n;
}

static void teardown(void)
{
    DIR *dir = opendir(folder);
    const struct dirent *item;
    while (dir && (item = readdir(dir)) != NULL)
        if (item->d_name[0] != '.')
            unlink(in_folder(item->d_name));
    if (dir)
        closedir(dir);
    rmdir(folder);
}

/* ---- a state with awkward values ---- */

enum { N_WEIGHT = 37, N_BIG = 50 * 1000, N_TENSORS = 6 };

static float weight[N_WEIGHT], zeros[N_BIG], noise[N_BIG];
static uint16_t half[6] = {0x0001, 0x7C00, 0x7E01, 0x8000, 0xFFFF, 0x3F80};
static uint8_t bytes[3] = {0, 255, 7};
static float scalar = -0.0f;

static const char *const class_names[] = {"cat", "d\"o\ng", "\xC3\xA9t\xC3\xA9", ""};
static const char *const config =
    "seed: 1\nmodel:\n  - linear: {name: \"a\\\"b\"}\n# \xE2\x82\xAC\n";

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

static void fill_tensors(struct checkpoint_tensor t[N_TENSORS], int64_t big)
{
    uint32_t random = 1;
    for (int i = 0; i < N_WEIGHT; i++)
        weight[i] = 0.01f * (float)(i - 18);
    weight[0] = 1.0001f;               /* B21: not 1 */
    weight[1] = float_of(0x7F800001u); /* a NaN keeps its payload */
    weight[2] = INFINITY;
    weight[3] = float_of(1); /* subnormal */
    for (int i = 0; i < N_BIG; i++) {
        random = random * 1664525u + 1013904223u;
        noise[i] = ((float)(random >> 8) - 8388608.0f) / 1e8f;
    }
    t[0] = (struct checkpoint_tensor){"fc1.weight", DTYPE_F32, 1, {N_WEIGHT}, weight};
    t[1] = (struct checkpoint_tensor){"scalar", DTYPE_F32, 0, {0}, &scalar};
    t[2] = (struct checkpoint_tensor){"half", DTYPE_BF16, 2, {2, 3}, half};
    t[3] = (struct checkpoint_tensor){"bytes \"\n", DTYPE_U8, 1, {3}, bytes};
    t[4] = (struct checkpoint_tensor){"zeros", DTYPE_F32, 2, {big / 10, 10}, zeros};
    t[5] = (struct checkpoint_tensor){"noise", DTYPE_F32, 5, {big / 10, 1, 5, 2, 1}, noise};
}

static struct progress some_progress(void)
{
    return (struct progress){.step = 123456789012345678,
                             .applied = INT64_C(1) << 62,
                             .skipped = 3,
                             .draws = 9007199254740993, /* 2^53 + 1: no double holds it */
                             .segment = 2,
                             .epoch_loss = 0.1 + 0.2,
                             .loss_scale = 0x1p-149,
                             .has_best = true,
                             .best_metric = -INFINITY,
                             .best_step = 7};
}

static struct checkpoint_content some_content(const struct checkpoint_tensor *t, int n)
{
    return (struct checkpoint_content){.config = config,
                                       .fingerprint = "abc123",
                                       .progress = some_progress(),
                                       .n_class_names = 4,
                                       .class_names = class_names,
                                       .n_tensors = n,
                                       .tensors = t};
}

static void write_some(const char *path, int64_t big, int level)
{
    struct checkpoint_tensor t[N_TENSORS];
    fill_tensors(t, big);
    struct checkpoint_content content = some_content(t, N_TENSORS);
    enum rc rc = checkpoint_write(path, &content, level, &d);
    ck_assert_msg(rc == RC_OK, "%s", d.n_items ? d.items[0].text : "");
}

static size_t slurp(const char *path, unsigned char **out)
{
    struct stat info;
    FILE *f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(fstat(fileno(f), &info), 0);
    *out = malloc((size_t)info.st_size + 1);
    ck_assert_ptr_nonnull(*out);
    ck_assert_uint_eq(fread(*out, 1, (size_t)info.st_size, f), (size_t)info.st_size);
    fclose(f);
    return (size_t)info.st_size;
}

static void spew(const char *path, const void *text, size_t n)
{
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(text, 1, n, f), n);
    ck_assert_int_eq(fclose(f), 0);
}

/* Every double compared by its bits, so that NaN and -0 count. */
static bool same_progress(const struct progress *a, const struct progress *b)
{
    for (const struct progress_field *f = progress_fields; f->name; f++) {
        size_t size = f->type == PROGRESS_BOOL ? sizeof(bool) : 8;
        if (memcmp((const char *)a + f->offset, (const char *)b + f->offset, size) != 0)
            return false;
    }
    return true;
}

/* True: loads, to exactly what was written. False: refused with words. Anything else fails. */
static bool loads(const char *path, int64_t big)
{
    struct checkpoint_tensor t[N_TENSORS];
    struct checkpoint c;
    struct progress expected = some_progress();
    fill_tensors(t, big);
    diag_init(&d);
    enum rc rc = checkpoint_open(&c, path, &d);
    if (rc == RC_OK) {
        rc = checkpoint_verify(&c, &d);
        if (rc != RC_OK)
            checkpoint_close(&c);
    }
    if (rc != RC_OK) {
        ck_assert_int_eq(rc, RC_DATA);
        ck_assert_int_ge(d.n_errors, 1);
        return false;
    }
    ck_assert_str_eq(c.version, PACKAGE_VERSION);
    ck_assert_str_eq(c.config, config);
    ck_assert_str_eq(c.fingerprint, "abc123");
    ck_assert(same_progress(&c.progress, &expected));
    ck_assert_int_eq(c.n_class_names, 4);
    for (int i = 0; i < 4; i++)
        ck_assert_str_eq(c.class_names[i], class_names[i]);
    ck_assert_int_eq(c.n_tensors, N_TENSORS);
    for (int i = 0; i < N_TENSORS; i++) {
        const struct checkpoint_entry *e = checkpoint_find(&c, t[i].name);
        ck_assert_ptr_nonnull(e);
        ck_assert_int_eq(e->dtype, t[i].dtype);
        ck_assert_int_eq(e->rank, t[i].rank);
        ck_assert_int_eq(memcmp(e->dims, t[i].dims, (size_t)e->rank * 8), 0);
        unsigned char *back = malloc(e->bytes);
        ck_assert_int_eq(checkpoint_read(&c, e, back, &d), RC_OK);
        ck_assert_int_eq(memcmp(back, t[i].data, e->bytes), 0);
        free(back);
    }
    ck_assert_ptr_null(checkpoint_find(&c, "fc1"));
    checkpoint_close(&c);
    return true;
}

/* ---- the tests ---- */

START_TEST(round_trip)
{
    for (int level = 0; level <= 9; level += 3) {
        write_some(in_folder("a.mpt"), N_BIG, level);
        ck_assert(loads(in_folder("a.mpt"), N_BIG));
        ck_assert_int_eq(count_files(), 1);
    }
    ck_assert_uint_eq(bits_of(weight[0]), 0x3F800347u);
}
END_TEST

START_TEST(every_thread_count_gives_the_same_bytes)
{
    unsigned char *one, *four;
    write_some(in_folder("1.mpt"), N_BIG, 6);
    par_set_threads(4);
    write_some(in_folder("4.mpt"), N_BIG, 6);
    ck_assert(loads(in_folder("4.mpt"), N_BIG));
    size_t n = slurp(in_folder("1.mpt"), &one), m = slurp(in_folder("4.mpt"), &four);
    ck_assert_uint_eq(n, m);
    ck_assert_int_eq(memcmp(one, four, n), 0);
    free(one);
    free(four);
}
END_TEST

START_TEST(planes_deflate_where_it_pays)
{
    struct checkpoint c;
    write_some(in_folder("a.mpt"), N_BIG, 6);
    ck_assert_int_eq(checkpoint_open(&c, in_folder("a.mpt"), &d), RC_OK);
    const struct checkpoint_entry *z = checkpoint_find(&c, "zeros");
    const struct checkpoint_entry *n = checkpoint_find(&c, "noise");
    ck_assert_uint_lt(z->stored, z->bytes / 100);
    ck_assert(n->plane_deflated[3]); /* exponents */
    ck_assert(!n->plane_deflated[0] || n->plane_bytes[0] < N_BIG);
    ck_assert_uint_lt(n->stored, n->bytes * 95 / 100);
    for (int i = 0; i < c.n_tensors; i++)
        ck_assert_uint_le(c.entries[i].stored, c.entries[i].bytes);
    checkpoint_close(&c);
}
END_TEST

START_TEST(no_tensors)
{
    struct checkpoint c;
    struct checkpoint_content content = {.config = "", .fingerprint = ""};
    ck_assert_int_eq(checkpoint_write(in_folder("a.mpt"), &content, 6, &d), RC_OK);
    ck_assert_int_eq(checkpoint_open(&c, in_folder("a.mpt"), &d), RC_OK);
    ck_assert_int_eq(checkpoint_verify(&c, &d), RC_OK);
    ck_assert_ptr_null(checkpoint_find(&c, "x"));
    checkpoint_close(&c);
}
END_TEST

/* B23: one bit flipped at each byte */
START_TEST(damage_flipped_bits)
{
    unsigned char *good;
    int survived = 0;
    write_some(in_folder("a.mpt"), 20, _i);
    size_t n = slurp(in_folder("a.mpt"), &good);
    for (size_t i = 0; i < n; i++) {
        unsigned char flip = (unsigned char)(1u << (i * 5 % 8));
        good[i] ^= flip;
        spew(in_folder("b.mpt"), good, n);
        survived += loads(in_folder("b.mpt"), 20);
        good[i] ^= flip;
    }
    /* padding bits behind a deflate stream carry no meaning; hardly more than one a plane */
    ck_assert_int_le(survived, _i == 0 ? 0 : 12);
    spew(in_folder("b.mpt"), good, n);
    ck_assert(loads(in_folder("b.mpt"), 20));
    free(good);
}
END_TEST

/* B23: cut at each length, and one byte too many */
START_TEST(damage_lengths)
{
    unsigned char *good;
    write_some(in_folder("a.mpt"), 20, 6);
    size_t n = slurp(in_folder("a.mpt"), &good);
    for (size_t i = 0; i < n; i++) {
        spew(in_folder("b.mpt"), good, i);
        ck_assert(!loads(in_folder("b.mpt"), 20));
    }
    good[n] = 0;
    spew(in_folder("b.mpt"), good, n + 1);
    ck_assert(!loads(in_folder("b.mpt"), 20));
    free(good);
}
END_TEST

/* Replaces text in the header, keeps its length (it ends in blanks), makes the checksum right. */
static void forge(const char *from, const char *to, int level)
{
    unsigned char *file;
    write_some(in_folder("a.mpt"), 20, level);
    size_t n = slurp(in_folder("a.mpt"), &file);
    uint32_t length;
    memcpy(&length, file + 8, 4);
    char *header = strndup((char *)file + 16, length), *at = strstr(header, from);
    ck_assert_msg(at != NULL, "no %s in %s", from, header);
    size_t head = (size_t)(at - header), tail = length - head - strlen(from);
    char *forged = malloc(2 * length + strlen(to));
    memset(forged, ' ', 2 * length + strlen(to));
    memcpy(forged, header, head);
    memcpy(forged + head, to, strlen(to));
    memcpy(forged + head + strlen(to), at + strlen(from), tail);
    ck_assert_int_eq(forged[length - 1], ' ');
    memcpy(file + 16, forged, length);
    uint32_t crc = (uint32_t)crc32(0, file + 16, length);
    memcpy(file + 12, &crc, 4);
    spew(in_folder("b.mpt"), file, n);
    free(forged);
    free(header);
    free(file);
}

static const struct {
    const char *from, *to, *says;
} forgeries[] = {
    {"\"format\":1", "\"format\":2", "format 2"},
    {"\"format\":1", "\"format\":0", "format 0"},
    {"\"format\":1", "\"format\":\"1\"", "no integer"},
    {"\"format\":1", "\"format\":1,\"format\":1", "duplicate"},
    {"\"step\":123456789012345678", "\"step\":-23456789012345678", "out of range"},
    {"\"step\":123456789012345678", "\"step\":9223372036854775807", "out of range"},
    {"\"step\":123456789012345678", "\"step\":92233720368547758070", "too big"},
    {"\"skipped\":3", "\"skippe\":33", "'skipped' is missing"},
    {"\"skipped\":3", "\"skipped\":3,\"new\":1", "unknown progress 'new'"},
    {"\"has_best\":true", "\"has_best\":1111", "neither true nor false"},
    {"\"best_metric\":\"-inf\"", "\"best_metric\":\"none\"", "no number"},
    {"\"cat\"", "12345", "class name 1"},
    {"\"fc1.weight\"", "\"scalar\",\"x\":1", "two tensors are called 'scalar'"},
    {"\"fp32\"", "\"fp99\"", "unknown dtype 'fp99'"},
    {"\"fp32\"", "\"bf16\"", "byte planes"},
    {"[37]", "[38]", "cannot hold 38"},
    {"[37]", "[00]", "invalid token"},
    {"[37]", "[-7]", "no positive integer"},
    {"[37]", "[0]", "no positive integer"},
    {"[37]", "[1.0]", "no positive integer"},
    {"[37]", "[1,1,1,1,1,37]", "6 dimensions"},
    {"[37]", "[4611686018427387904]", "too large"},
    {"[37]", "[4294967296,4294967296]", "too large"},
    {"\"offset\":", "\"offset\":1", "begins at byte"},
    {"\"stored\":148", "\"stored\":147", "do not fill"},
    {"\"stored\":148", "\"stored\":999999", "but the file has"},
    {"\"stored\":148", "\"stored\":-48", "out of range"},
    {"\"bytes\":37,\"packing\":\"stored\"", "\"bytes\":37,\"packing\":\"lzma99\"", "packing"},
    {"\"bytes\":37,\"packing\":\"stored\"", "\"bytes\":37,\"packing\":\"deflate\"",
     "damaged tensor 'fc1.weight'"},
    {"\"crc32\":", "\"crc32\":9", "crc32"},
    {"\"class_names\":[", "\"class_names\":[[", "header"},
    {"\"tensors\":[", "\"tensor\":[", "'tensors' is missing"},
    {"{\"format\"", "[\"format\"", "header"},
    {"\"fingerprint\":\"abc123\"", "\"fingerprint\":\"a\\u0000c\"", "header"},
};

START_TEST(forged_header)
{
    forge(forgeries[_i].from, forgeries[_i].to, 0);
    ck_assert(!loads(in_folder("b.mpt"), 20));
    bool crc = strcmp(forgeries[_i].says, "crc32") == 0; /* out of range, or wrong */
    ck_assert_msg(strstr(d.items[0].text, forgeries[_i].says) ||
                      (crc && strstr(d.items[0].text, "checksum")),
                  "%s: %s", forgeries[_i].to, d.items[0].text);
    ck_assert_ptr_nonnull(strstr(d.items[0].text, "b.mpt: error: "));
}
END_TEST

/* A plane of few bytes may not ask for much memory: deflate packs 1032 to 1 at best. */
START_TEST(no_huge_claims)
{
    forge("\"shape\":[2,10]", "\"shape\":[2000000,1000000]", 6);
    ck_assert(!loads(in_folder("b.mpt"), 20));
    ck_assert_ptr_nonnull(strstr(d.items[0].text, "cannot hold 2000000000000"));
}
END_TEST

START_TEST(not_a_checkpoint)
{
    struct checkpoint c;
    ck_assert_int_eq(checkpoint_open(&c, in_folder("none.mpt"), &d), RC_DATA);
    ck_assert_ptr_nonnull(strstr(d.items[0].text, "none.mpt: error: cannot open"));
    ck_assert_int_eq(checkpoint_open(&c, folder, &d), RC_DATA);
    ck_assert_ptr_nonnull(strstr(d.items[1].text, "folder"));
    ck_assert_int_eq(mkfifo(in_folder("fifo"), 0600), 0);
    ck_assert_int_eq(checkpoint_open(&c, in_folder("fifo"), &d), RC_DATA);
    spew(in_folder("text"), "seed: 1\nmodel: x\n", 17);
    ck_assert_int_eq(checkpoint_open(&c, in_folder("text"), &d), RC_DATA);
    ck_assert_ptr_nonnull(strstr(d.items[3].text, "not a checkpoint"));
}
END_TEST

START_TEST(text_must_be_utf8)
{
    struct checkpoint_content content = {.config = "a\xFFz", .fingerprint = ""};
    ck_assert_int_eq(checkpoint_write(in_folder("a.mpt"), &content, 6, &d), RC_FAILED);
    ck_assert_int_eq(count_files(), 0);
}
END_TEST

/* ---- failing writes: RC_FAILED with the cause, the old file as it was, nothing left behind ----
 */

static enum rc write_other(const char *path)
{
    struct checkpoint_tensor t[N_TENSORS];
    fill_tensors(t, N_BIG);
    struct checkpoint_content content = some_content(t, N_TENSORS);
    content.fingerprint = "other";
    diag_init(&d);
    return checkpoint_write(path, &content, 1, &d);
}

START_TEST(full_disk)
{
    struct rlimit all, few;
    write_some(in_folder("a.mpt"), N_BIG, 6);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &all), 0);
    signal(SIGXFSZ, SIG_IGN);
    for (rlim_t limit = 0; limit < 200 * 1000; limit += limit < 4000 ? 500 : 40000) {
        few = (struct rlimit){limit, all.rlim_max};
        /* Check writes a file of its own at each assertion: none under the limit. */
        int limited = setrlimit(RLIMIT_FSIZE, &few);
        enum rc rc = write_other(in_folder("a.mpt"));
        int unlimited = setrlimit(RLIMIT_FSIZE, &all);
        ck_assert_int_eq(limited | unlimited, 0);
        ck_assert_int_eq(rc, RC_FAILED);
        ck_assert_ptr_nonnull(strstr(d.items[0].text, "a.mpt: error: cannot write"));
        ck_assert_ptr_nonnull(strstr(d.items[0].text, strerror(EFBIG)));
        ck_assert_int_eq(count_files(), 1);
        ck_assert(loads(in_folder("a.mpt"), N_BIG));
    }
    ck_assert_int_eq(write_other(in_folder("a.mpt")), RC_OK);
}
END_TEST

START_TEST(no_folder)
{
    ck_assert_int_eq(write_other(in_folder("none/a.mpt")), RC_FAILED);
    ck_assert_ptr_nonnull(strstr(d.items[0].text, strerror(ENOENT)));
    /* a folder stands where the file should go: the rename fails */
    ck_assert_int_eq(mkdir(in_folder("dir.mpt"), 0700), 0);
    ck_assert_int_eq(write_other(in_folder("dir.mpt")), RC_FAILED);
    ck_assert_ptr_nonnull(strstr(d.items[0].text, "cannot rename"));
    ck_assert_int_eq(count_files(), 1);
    rmdir(in_folder("dir.mpt"));
}
END_TEST

/* ---- the folder ---- */

static void write_step(int64_t step)
{
    struct pool pool;
    pool_init(&pool);
    write_some(checkpoint_path(&pool, folder, step), 20, 6);
    pool_release(&pool);
}

static bool exists(const char *name)
{
    return access(in_folder(name), F_OK) == 0;
}

START_TEST(newest)
{
    struct pool pool;
    const char *path;
    pool_init(&pool);
    ck_assert_int_eq(checkpoint_newest(in_folder("none"), &pool, &path, &d), RC_OK);
    ck_assert_ptr_null(path);
    ck_assert_int_eq(checkpoint_newest(folder, &pool, &path, &d), RC_OK);
    ck_assert_ptr_null(path);

    write_step(9);
    write_step(10);
    write_step(123456789); /* sorts before the others as text */
    spew(in_folder("step-99999999.mpt.tmp-12"), "x", 1);
    spew(in_folder("step-x.mpt"), "x", 1);
    spew(in_folder("step-0999999999.mpt"), "x", 1);
    spew(in_folder("best.mpt"), "x", 1);
    ck_assert_int_eq(checkpoint_newest(folder, &pool, &path, &d), RC_OK);
    ck_assert_ptr_nonnull(strstr(path, "step-123456789.mpt"));
    ck_assert_int_eq(d.n_items, 0);

    ck_assert_int_eq(truncate(in_folder("step-123456789.mpt"), 300), 0);
    ck_assert_int_eq(checkpoint_newest(folder, &pool, &path, &d), RC_OK);
    ck_assert_ptr_nonnull(strstr(path, "step-00000010.mpt"));
    ck_assert_int_eq(d.n_items, 1);
    ck_assert_int_eq(d.n_errors, 0);
    ck_assert_ptr_nonnull(strstr(d.items[0].text, "step-123456789.mpt: warning: passed over: dam"));

    ck_assert_int_eq(truncate(in_folder("step-00000010.mpt"), 0), 0);
    ck_assert_int_eq(truncate(in_folder("step-00000009.mpt"), 20), 0);
    ck_assert_int_eq(checkpoint_newest(folder, &pool, &path, &d), RC_DATA);
    ck_assert_ptr_null(path);
    pool_release(&pool);
}
END_TEST

START_TEST(prune)
{
    for (int64_t step = 8; step <= 12; step++)
        write_step(step);
    spew(in_folder("best.mpt"), "x", 1);
    spew(in_folder("notes.txt"), "x", 1);
    spew(in_folder("step-00000011.mpt.tmp-4194304999"), "x", 1); /* no such process */
    spew(in_folder("step-00000011.mpt.tmp-1"), "x", 1);          /* a live one */
    spew(in_folder("step-00000011.mpt.tmp-x"), "x", 1);
    checkpoint_prune(folder, 0);
    ck_assert_int_eq(count_files(), 9);
    ck_assert(!exists("step-00000011.mpt.tmp-4194304999"));
    checkpoint_prune(folder, 2);
    ck_assert(exists("step-00000012.mpt") && exists("step-00000011.mpt"));
    ck_assert(!exists("step-00000010.mpt") && !exists("step-00000009.mpt"));
    ck_assert(exists("best.mpt") && exists("notes.txt"));
    ck_assert(exists("step-00000011.mpt.tmp-1") && exists("step-00000011.mpt.tmp-x"));
    checkpoint_prune(in_folder("none"), 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("checkpoint");
    TCase *c = tcase_create("checkpoint");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_set_timeout(c, 120);
    tcase_add_test(c, round_trip);
    tcase_add_test(c, every_thread_count_gives_the_same_bytes);
    tcase_add_test(c, planes_deflate_where_it_pays);
    tcase_add_test(c, no_tensors);
    tcase_add_loop_test(c, damage_flipped_bits, 0, 2);
    tcase_add_test(c, damage_lengths);
    tcase_add_loop_test(c, forged_header, 0, (int)COUNT_OF(forgeries));
    tcase_add_test(c, no_huge_claims);
    tcase_add_test(c, not_a_checkpoint);
    tcase_add_test(c, text_must_be_utf8);
    tcase_add_test(c, full_disk);
    tcase_add_test(c, no_folder);
    tcase_add_test(c, newest);
    tcase_add_test(c, prune);
    suite_add_tcase(suite, c);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
