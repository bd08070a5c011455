/* replay.c: the main() of every fuzz target in `make check`: feeds each file of the folders (or
 * files) named on the command line to LLVMFuzzerTestOneInput(), and each also cut in half and with
 * single bits turned. Without arguments fuzz_<name> takes $srcdir/tests/fuzz/corpus/<name>. For
 * real fuzzing, link the target with -fsanitize=fuzzer instead. */
#include "config.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int n_inputs;

/* In its own allocation, so that a sanitizer sees each byte behind the end. */
static void run(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy)
        abort();
    memcpy(copy, data, size);
    (void)LLVMFuzzerTestOneInput(copy, size);
    free(copy);
    n_inputs++;
}

static void run_file(const char *path)
{
    static uint8_t data[1 << 20];
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        exit(1);
    }
    size_t n = fread(data, 1, sizeof(data), f);
    fclose(f);
    run(data, n);
    run(data, n / 2);
    for (size_t i = 0; i < n && i < 64; i++) {
        uint8_t *at = &data[i * n / 64 % n], held = *at;
        *at = (uint8_t)(held ^ (1u << i % 8));
        run(data, n);
        *at = held;
    }
}

static void run_folder(const char *path)
{
    char file[4096];
    const struct dirent *entry;
    DIR *folder = opendir(path);
    if (!folder) {
        perror(path);
        exit(1);
    }
    while ((entry = readdir(folder)) != NULL) {
        snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
        struct stat facts;
        if (entry->d_name[0] != '.' && stat(file, &facts) == 0 && S_ISREG(facts.st_mode))
            run_file(file);
    }
    closedir(folder);
}

static void run_own_corpus(const char *program)
{
    char folder[4096];
    const char *name = strstr(program, "fuzz_"), *srcdir = getenv("srcdir");
    for (const char *next = name; next; next = strstr(next + 1, "fuzz_"))
        name = next;
    snprintf(folder, sizeof(folder), "%s/tests/fuzz/corpus/%s", srcdir ? srcdir : ".",
             name ? name + 5 : "");
    run_folder(folder);
}

int main(int argc, char **argv)
{
    struct stat facts;
    if (argc == 1)
        run_own_corpus(argv[0]);
    for (int i = 1; i < argc; i++)
        if (stat(argv[i], &facts) == 0 && S_ISDIR(facts.st_mode))
            run_folder(argv[i]);
        else
            run_file(argv[i]);
    printf("%d inputs\n", n_inputs);
    return n_inputs == 0;
}
