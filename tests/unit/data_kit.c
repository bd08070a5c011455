/* data_kit.c: see data_kit.h. */
#include "config.h"

#include "data_kit.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

struct diag data_kit_diag;

static char folder[256];
static struct pool paths;

void data_kit_setup(void)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(folder, sizeof(folder), "%s/mptrain-data-XXXXXX", tmp ? tmp : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    pool_init(&paths);
}

static int drop(const char *path, const struct stat *s, int kind, struct FTW *place)
{
    (void)s;
    (void)kind;
    (void)place;
    return remove(path);
}

void data_kit_teardown(void)
{
    nftw(folder, drop, 8, FTW_DEPTH | FTW_PHYS);
    pool_release(&paths);
}

const char *data_kit_folder(const char *name)
{
    char *path = pool_printf(&paths, "%s/%s", folder, name);
    ck_assert_int_eq(mkdir(path, 0777), 0);
    return path;
}

const char *data_kit_write(const char *name, const void *bytes, size_t n)
{
    char *path = pool_printf(&paths, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, n, file), n);
    ck_assert_int_eq(fclose(file), 0);
    return path;
}

size_t data_kit_gzip(const void *bytes, size_t n, unsigned char *packed, size_t room)
{
    z_stream z = {0};
    ck_assert_int_eq(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (unsigned char *)bytes;
    z.avail_in = (uInt)n;
    z.next_out = packed;
    z.avail_out = (uInt)room;
    ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return room - z.avail_out;
}

struct section data_kit_section(const char *reader, const void *attrs)
{
    static struct key_origin origin[16];
    return (struct section){.where = "data.train",
                            .rows = dataset_reader(reader)->keys,
                            .at = (void *)attrs,
                            .origin = origin};
}

enum rc data_kit_open(struct dataset *out, const char *reader, const void *attrs,
                      enum dataset_target target)
{
    struct section split = data_kit_section(reader, attrs);
    struct dataset_want want = {.target = target, .seed = 1};
    diag_init(&data_kit_diag);
    return dataset_open(out, dataset_reader(reader), "train", &split, &want, &data_kit_diag);
}

enum rc data_kit_open_arrays(struct dataset *out, const char *reader, const char *inputs,
                             const char *targets, enum dataset_target target)
{
    struct idx_attrs idx = {inputs, targets};
    struct npy_attrs npy = {inputs, targets};
    bool is_idx = strcmp(reader, "idx") == 0;
    return data_kit_open(out, reader, is_idx ? (void *)&idx : (void *)&npy, target);
}

bool data_kit_said(const char *words)
{
    for (int i = 0; i < data_kit_diag.n_items; i++)
        if (strstr(data_kit_diag.items[i].text, words))
            return true;
    fprintf(stderr, "not said: %s\n", words);
    diag_print(&data_kit_diag, 0, stderr);
    return false;
}

void data_kit_cap_memory(void)
{
#ifndef MP_DEBUG
    enum { MORE = 50 * 1000 * 1000 };
    unsigned long pages;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file)
        return;
    ck_assert_int_eq(fscanf(file, "%lu", &pages), 1);
    fclose(file);
    rlim_t limit = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + MORE;
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &(struct rlimit){limit, limit}), 0);
#endif
}

float data_kit_input(const struct dataset *ds, int64_t i)
{
    return ds->dtype == DTYPE_U8 ? (float)((uint8_t *)ds->inputs)[i] : ((float *)ds->inputs)[i];
}

int data_kit_run(const char *name, void (*add)(TCase *tc))
{
    Suite *suite = suite_create(name);
    TCase *tc = tcase_create(name);
    tcase_add_checked_fixture(tc, data_kit_setup, data_kit_teardown);
    tcase_set_timeout(tc, 60);
    add(tc);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
