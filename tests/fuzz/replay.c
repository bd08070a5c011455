/* replay.c: runs a fuzz target over its corpus as an ordinary test, with no fuzzing engine.
 *
 *     fuzz_NAME [FILE|FOLDER]...       default: $srcdir/tests/fuzz/corpus/NAME
 *
 * Each file is run as it is, cut at every length and with one bit flipped in every byte (files up
 * to SMALL bytes). Where clang is at hand the same target links with -fsanitize=fuzzer instead. */
#include "config.h"

#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SMALL = 4096, PATH_ROOM = 1024 };

static long n_runs;

/* A copy of exactly n bytes, so that the sanitizer sees a read behind the end. */
static void run(const unsigned char *bytes, size_t n)
{
    unsigned char *copy = malloc(n ? n : 1);
    if (!copy)
        abort();
    memcpy(copy, bytes, n);
    LLVMFuzzerTestOneInput(copy, n);
    free(copy);
    n_runs++;
}

static void run_variants(unsigned char *bytes, size_t n)
{
    run(bytes, n);
    if (n > SMALL)
        return;
    for (size_t i = 0; i < n; i++) {
        unsigned char bit = (unsigned char)(1u << (i * 5 % 8));
        run(bytes, i);
        bytes[i] ^= bit;
        run(bytes, n);
        bytes[i] ^= bit;
    }
}

static void run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    static unsigned char bytes[1 << 20];
    if (!file) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    size_t n = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    run_variants(bytes, n);
}

static void run_path(const char *path)
{
    struct stat status;
    DIR *dir = stat(path, &status) == 0 && S_ISDIR(status.st_mode) ? opendir(path) : NULL;
    if (!dir) {
        run_file(path);
        return;
    }
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        char inner[PATH_ROOM];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name);
        run_path(inner);
    }
    closedir(dir);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        run_path(argv[i]);
    if (argc == 1) {
        const char *srcdir = getenv("srcdir"), *name = strrchr(argv[0], '_');
        char path[PATH_ROOM];
        snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/%s", srcdir ? srcdir : ".",
                 name ? name + 1 : "");
        run_path(path);
    }
    printf("%ld inputs\n", n_runs);
    return n_runs > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
