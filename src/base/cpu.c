/* cpu.c: see cpu.h. Detection runs once; the cap can be set again (tests do).
 *
 * Invariant: a level counts as there only if every level below it is there, the compiler built its
 * kernels, the CPU has the instructions, and the kernel saves (AMX: grants) their registers.
 * To add a level: a value of enum isa, a row in `levels`, a row in `x86_needs`. */
#include "config.h"

#include "base/cpu.h"

#include "base/str.h"

#include <float.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#endif

#ifdef HAVE_AVX2
#define BUILT_AVX2 true
#else
#define BUILT_AVX2 false
#endif
#ifdef HAVE_AVX512
#define BUILT_AVX512 true
#else
#define BUILT_AVX512 false
#endif
#ifdef HAVE_AVX512_BF16
#define BUILT_AVX512_BF16 true
#else
#define BUILT_AVX512_BF16 false
#endif
#ifdef HAVE_AMX
#define BUILT_AMX true
#else
#define BUILT_AMX false
#endif

static const struct {
    const char *name, *help;
    bool built;
} levels[ISA_COUNT] = {
    [ISA_SCALAR] = {"scalar", "plain C, whatever the compiler makes of it", true},
    [ISA_AVX2] = {"avx2", "AVX2, FMA and F16C", BUILT_AVX2},
    [ISA_AVX512] = {"avx512", "AVX-512 F, BW, DQ and VL", BUILT_AVX512},
    [ISA_AVX512_BF16] = {"avx512_bf16", "AVX512-BF16: dot products of BF16 pairs",
                         BUILT_AVX512_BF16},
    [ISA_AMX] = {"amx", "AMX-TILE and AMX-BF16: tile products of BF16", BUILT_AMX},
};

enum { CACHE_LEVELS = 3 };

static struct {
    bool looked;
    enum isa best, isa;
    const char *missing[ISA_COUNT]; /* what the machine says; fixed texts */
    char capped[40];                /* "capped by --isa avx2" */
    char name[64];                  /* brand string */
    size_t cache[CACHE_LEVELS + 1]; /* bytes, by level */
} cpu = {.best = ISA_SCALAR, .isa = ISA_SCALAR};

#if defined(__x86_64__)

enum cpuid_register { EAX, EBX, ECX, EDX };

struct cpuid_bit {
    uint32_t leaf, subleaf;
    enum cpuid_register in;
    int bit;
    const char *missing;
};

/* What each level asks of the CPU on top of the level below, and of XCR0 (the register sets that
 * the kernel saves at a context switch). Bit numbers: Intel SDM vol. 2A, CPUID. */
static const struct {
    struct cpuid_bit bits[4]; /* missing NULL ends the list early */
    uint64_t saved;
    const char *not_saved;
} x86_needs[ISA_COUNT] = {
    [ISA_AVX2] = {{{7, 0, EBX, 5, "the CPU has no AVX2"},
                   {1, 0, ECX, 12, "the CPU has no FMA"},
                   {1, 0, ECX, 29, "the CPU has no F16C"}},
                  0x6,
                  "the kernel does not save the AVX registers"},
    [ISA_AVX512] = {{{7, 0, EBX, 16, "the CPU has no AVX-512"},
                     {7, 0, EBX, 17, "the CPU has no AVX-512 DQ"},
                     {7, 0, EBX, 30, "the CPU has no AVX-512 BW"},
                     {7, 0, EBX, 31, "the CPU has no AVX-512 VL"}},
                    0xE6,
                    "the kernel does not save the AVX-512 registers"},
    [ISA_AVX512_BF16] = {{{7, 1, EAX, 5, "the CPU has no AVX512-BF16"}},
                         0xE6,
                         "the kernel does not save the AVX-512 registers"},
    [ISA_AMX] = {{{7, 0, EDX, 24, "the CPU has no AMX"},
                  {7, 0, EDX, 22, "the CPU has no AMX-BF16"}},
                 0x600E6,
                 "the kernel does not save the AMX tiles"},
};

static bool cpuid(uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
    return __get_cpuid_count(leaf, subleaf, &out[EAX], &out[EBX], &out[ECX], &out[EDX]) != 0;
}

static bool cpuid_has(const struct cpuid_bit *b)
{
    uint32_t r[4];
    if (b->subleaf > 0 && (!cpuid(b->leaf, 0, r) || r[EAX] < b->subleaf))
        return false;
    return cpuid(b->leaf, b->subleaf, r) && (r[b->in] >> b->bit & 1u);
}

static uint64_t xcr0(void)
{
    static const struct cpuid_bit osxsave = {1, 0, ECX, 27, NULL};
    if (!cpuid_has(&osxsave))
        return 0;
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

/* Linux hands out the tile registers on request, once for all threads of the process. */
static bool kernel_grants_tiles(void)
{
#if defined(__linux__) && defined(SYS_arch_prctl)
    enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };
    return syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
#else
    return false;
#endif
}

static const char *machine_lacks(enum isa isa)
{
    for (size_t i = 0; i < COUNT_OF(x86_needs[isa].bits) && x86_needs[isa].bits[i].missing; i++)
        if (!cpuid_has(&x86_needs[isa].bits[i]))
            return x86_needs[isa].bits[i].missing;
    if ((xcr0() & x86_needs[isa].saved) != x86_needs[isa].saved)
        return x86_needs[isa].not_saved;
    if (isa == ISA_AMX && !kernel_grants_tiles())
        return "the kernel does not grant the AMX tiles";
    return NULL;
}

static void read_name(void)
{
    uint32_t r[12];
    for (uint32_t i = 0; i < 3; i++)
        if (!cpuid(0x80000002u + i, 0, r + 4 * i))
            return;
    char brand[sizeof(r) + 1];
    memcpy(brand, r, sizeof(r));
    brand[sizeof(r)] = '\0';
    size_t length = 0; /* some pad with blanks, in front or between words */
    for (const char *p = brand; *p; p++)
        if (*p != ' ' || (length > 0 && cpu.name[length - 1] != ' '))
            cpu.name[length++] = *p;
    while (length > 0 && cpu.name[length - 1] == ' ')
        length--;
    cpu.name[length] = '\0';
}

#else

static const char *machine_lacks(enum isa isa)
{
    (void)isa;
    return "not an x86-64 CPU";
}

static void read_name(void)
{
}

#endif

/* First line of a file of the cache in sysfs; false where there is none. */
static bool read_cache_file(int index, const char *file, char *out, int size)
{
    char path[96];
    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, file);
    FILE *f = fopen(path, "r");
    if (!f)
        return false;
    bool ok = fgets(out, size, f) != NULL;
    fclose(f);
    return ok;
}

/* The digits at *p as a number, 0 where there are none; moves *p behind them. */
static long take_number(const char **p)
{
    long n = 0;
    for (; **p >= '0' && **p <= '9' && n < LONG_MAX / 10 - 1; (*p)++)
        n = 10 * n + (**p - '0');
    return n;
}

/* "0-3,8" -> 5 */
static long count_cpus(const char *list)
{
    long n = 0;
    for (const char *p = list; *p >= '0' && *p <= '9';) {
        long first = take_number(&p), last = first;
        if (*p == '-') {
            p++;
            last = take_number(&p);
        }
        n += last >= first ? last - first + 1 : 1;
        p += *p == ',';
    }
    return n > 0 ? n : 1;
}

/* Sizes and sharers of the data caches of CPU 0; leaves alone what is not told. */
static void read_sysfs_caches(size_t size[CACHE_LEVELS + 1], long sharers[CACHE_LEVELS + 1])
{
    char text[256];
    for (int index = 0; read_cache_file(index, "level", text, sizeof(text)); index++) {
        const char *p = text;
        long level = take_number(&p);
        if (level < 1 || level > CACHE_LEVELS)
            continue;
        if (!read_cache_file(index, "type", text, sizeof(text)) || text[0] == 'I')
            continue;
        p = text;
        if (read_cache_file(index, "size", text, sizeof(text)))
            size[level] = (size_t)take_number(&p) * 1024; /* always "48K" */
        if (read_cache_file(index, "shared_cpu_list", text, sizeof(text)))
            sharers[level] = count_cpus(text);
    }
}

static void read_sysconf_caches(size_t size[CACHE_LEVELS + 1])
{
#ifdef _SC_LEVEL1_DCACHE_SIZE
    static const int names[CACHE_LEVELS + 1] = {0, _SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE,
                                                _SC_LEVEL3_CACHE_SIZE};
    for (int level = 1; level <= CACHE_LEVELS; level++) {
        long bytes = sysconf(names[level]);
        if (size[level] == 0 && bytes > 0)
            size[level] = (size_t)bytes;
    }
#else
    (void)size;
#endif
}

/* A virtual machine may show the L3 of the whole socket to its few CPUs: hence the upper limits. */
static void read_caches(void)
{
    static const struct {
        size_t usual, least, most;
    } sane[CACHE_LEVELS + 1] = {{0, 0, 0},
                                {32 << 10, 8 << 10, 256 << 10},
                                {512 << 10, 128 << 10, 8 << 20},
                                {1 << 20, 256 << 10, 16 << 20}};
    size_t size[CACHE_LEVELS + 1] = {0};
    long sharers[CACHE_LEVELS + 1] = {1, 1, 1, 1};
    read_sysfs_caches(size, sharers);
    read_sysconf_caches(size);
    long per_core = sharers[1] > 0 ? sharers[1] : 1; /* hardware threads that are one core */
    for (int level = 1; level <= CACHE_LEVELS; level++) {
        long cores = sharers[level] / per_core;
        size_t share = size[level] / (size_t)(cores > 0 ? cores : 1);
        if (share == 0)
            share = sane[level].usual;
        if (share < sane[level].least)
            share = sane[level].least;
        cpu.cache[level] = share > sane[level].most ? sane[level].most : share;
    }
}

static void look(void)
{
    const char *lacks = NULL;
    cpu.best = ISA_SCALAR;
    for (int i = ISA_SCALAR + 1; i < ISA_COUNT; i++) {
        if (!lacks)
            lacks = levels[i].built ? machine_lacks((enum isa)i)
                                    : "not built: the compiler did not know it";
        cpu.missing[i] = lacks;
        if (!lacks)
            cpu.best = (enum isa)i;
    }
    snprintf(cpu.name, sizeof(cpu.name), "unknown CPU");
    read_name();
    read_caches();
    cpu.looked = true;
}

static const char *next_name(const void *context, int i)
{
    (void)context;
    return i < ISA_COUNT ? levels[i].name : NULL;
}

static enum rc unknown_name(const char *name, const char *source, struct diag *d)
{
    diag_error(d, RC_USAGE, NOWHERE,
               "%s: unknown instruction set '%s'; it is one of scalar, avx2, avx512, avx512_bf16, "
               "amx",
               source, name);
    const char *nearest = str_nearest(name, next_name, NULL);
    if (nearest)
        diag_note(d, NOWHERE, "did you mean '%s'?", nearest);
    return RC_USAGE;
}

/* Anything linked or loaded that was built with -ffast-math switches subnormals off for all. */
static bool keeps_subnormals(void)
{
    volatile float smallest = FLT_TRUE_MIN;
    volatile float twice = smallest + smallest;
    return twice > smallest && smallest > 0;
}

enum rc cpu_init(const char *cap, struct diag *d)
{
    const char *source = "--isa";
    if (!keeps_subnormals())
        return diag_error(d, RC_FAILED, NOWHERE,
                          "subnormal numbers are flushed to 0 in this process: the program or a "
                          "library that it loads was built with -ffast-math; build it without");
    if (!cpu.looked)
        look();
    if (!cap) {
        source = "MPTRAIN_ISA";
        cap = getenv(source);
    }
    cpu.capped[0] = '\0';
    cpu.isa = cpu.best;
    if (!cap || (cap[0] == '\0' && source[0] == 'M')) /* an empty variable is as good as none */
        return RC_OK;
    int isa = 0;
    while (isa < ISA_COUNT && strcmp(cap, levels[isa].name) != 0)
        isa++;
    if (isa == ISA_COUNT)
        return unknown_name(cap, source, d);
    if (cpu.missing[isa]) {
        diag_error(d, RC_USAGE, NOWHERE, "%s %s cannot run here: %s", source, cap,
                   cpu.missing[isa]);
        diag_note(d, NOWHERE, "the best that runs here is '%s'", levels[cpu.best].name);
        return RC_USAGE;
    }
    cpu.isa = (enum isa)isa;
    snprintf(cpu.capped, sizeof(cpu.capped), "capped by %s %s", source, cap);
    return RC_OK;
}

enum isa cpu_isa(void)
{
    return cpu.isa;
}

bool cpu_has(enum isa isa)
{
    return cpu.isa >= isa;
}

enum isa cpu_best(void)
{
    return cpu.best;
}

const char *cpu_missing(enum isa isa)
{
    if (cpu_has(isa))
        return NULL;
    if (cpu.missing[isa])
        return cpu.missing[isa];
    return cpu.capped[0] ? cpu.capped : "cpu_init was not called";
}

const char *isa_name(enum isa isa)
{
    return levels[isa].name;
}

const char *isa_help(enum isa isa)
{
    return levels[isa].help;
}

const char *cpu_name(void)
{
    return cpu.looked ? cpu.name : "unknown CPU";
}

size_t cpu_cache(int level)
{
    BUG_IF(level < 1 || level > CACHE_LEVELS);
    if (cpu.cache[level] == 0)
        read_caches();
    return cpu.cache[level];
}
