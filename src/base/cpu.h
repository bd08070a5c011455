/* cpu.h: what this CPU can run. The only reader of cpuid: CPU bit, XCR0 (the kernel saves the
 * registers) and, for AMX, permission from the kernel (arch_prctl). Capped by --isa or MPTRAIN_ISA.
 */
#ifndef CPU_H
#define CPU_H

#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>

/* Levels, each containing the ones before it. */
enum isa {
    ISA_SCALAR,      /* the baseline the compiler was told: SSE2 on x86-64, anything elsewhere */
    ISA_AVX2,        /* AVX2, FMA, F16C */
    ISA_AVX512,      /* AVX-512 F, BW, DQ, VL */
    ISA_AVX512_BF16, /* AVX512-BF16 */
    ISA_AMX,         /* AMX-TILE, AMX-BF16 */
    ISA_COUNT
};

/* Looks once, then caps: cap NULL means MPTRAIN_ISA, and where that is unset the best there is.
 * RC_USAGE for a name that does not exist or that this machine cannot run. */
MUST_USE enum rc cpu_init(const char *cap, struct diag *d);

enum isa cpu_isa(void);           /* after the cap; ISA_SCALAR before cpu_init */
bool cpu_has(enum isa isa);       /* cpu_isa() >= isa */
enum isa cpu_best(void);          /* before the cap */
const char *cpu_missing(enum isa isa); /* why not: "the CPU has no AMX", "capped by --isa avx2";
                                          NULL where it can run */
const char *isa_name(enum isa isa);    /* scalar avx2 avx512 avx512_bf16 amx */
const char *isa_help(enum isa isa);
const char *cpu_name(void);            /* brand string */

/* Bytes of cache that one core has to itself (or its share of), with sane values where the
 * machine does not say. */
size_t cpu_cache(int level); /* 1: L1 data, 2: L2, 3: this core's share of L3 */

#endif
