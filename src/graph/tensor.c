/* tensor.c: see tensor.h. */
#include "config.h"

#include "graph/tensor.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const role_names[ROLE_COUNT] = {
    [ROLE_INPUT] = "input",
    [ROLE_PARAM] = "param",
    [ROLE_SHADOW] = "shadow",
    [ROLE_ACT] = "activation",
    [ROLE_SAVED] = "saved",
    [ROLE_GRAD] = "gradient",
    [ROLE_DPARAM] = "weight gradient",
    [ROLE_STATE] = "state",
    [ROLE_STATISTIC] = "statistic",
    [ROLE_STAGED] = "staged statistic",
    [ROLE_FUSED] = "fused",
};

const char *role_name(enum role r)
{
    return role_names[r];
}

int64_t tensor_elements(const struct tensor *t)
{
    int64_t n = 1;
    for (int i = 0; i < t->rank; i++)
        n *= t->dims[i];
    return n;
}

int64_t tensor_row_elements(const struct tensor *t)
{
    return t->batched ? tensor_elements(t) / t->dims[0] : tensor_elements(t);
}

int64_t tensor_columns(const struct tensor *t)
{
    return t->rank > 0 ? t->dims[t->rank - 1] : 1;
}

const char *tensor_shape(char out[TENSOR_SHAPE_ROOM], const struct tensor *t)
{
    int at = snprintf(out, TENSOR_SHAPE_ROOM, "(");
    for (int i = 0; i < t->rank; i++) {
        size_t left = TENSOR_SHAPE_ROOM - (size_t)at;
        if (i == 0 && t->batched)
            at += snprintf(out + at, left, "B");
        else
            at += snprintf(out + at, left, "%s%" PRId64, i ? "," : "", t->dims[i]);
    }
    snprintf(out + at, TENSOR_SHAPE_ROOM - (size_t)at, ")");
    return out;
}
