/* dtype.c: see dtype.h. */
#include "config.h"

#include "graph/dtype.h"

#include <string.h>

static const struct {
    const char *name;
    size_t size;
    double max, min;
} facts[DTYPE_COUNT] = {
    [DTYPE_F32] = {"fp32", 4, 0x1.fffffep127, 0x1p-149},
    [DTYPE_BF16] = {"bf16", 2, 0x1.fep127, 0x1p-133},
    [DTYPE_F16] = {"fp16", 2, 65504.0, 0x1p-24},
    [DTYPE_I32] = {"i32", 4, 2147483647.0, 1.0},
    [DTYPE_U8] = {"u8", 1, 255.0, 1.0},
};

size_t dtype_size(enum dtype t)
{
    return facts[t].size;
}

const char *dtype_name(enum dtype t)
{
    return facts[t].name;
}

bool dtype_is_half(enum dtype t)
{
    return t == DTYPE_BF16 || t == DTYPE_F16;
}

bool dtype_from_name(const char *name, enum dtype *out)
{
    for (int t = 0; t < DTYPE_COUNT; t++)
        if (strcmp(facts[t].name, name) == 0) {
            *out = (enum dtype)t;
            return true;
        }
    return false;
}

double dtype_max(enum dtype t)
{
    return facts[t].max;
}

double dtype_min(enum dtype t)
{
    return facts[t].min;
}
