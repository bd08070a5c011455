/* tensor.h: what a tensor is. Its bytes are bound once, after planning (plan/pass_memory.c).
 *
 * Dimension letters used in shape comments everywhere: B batch, T time, C channels or features,
 * H height, W width; M N K of a GEMM. Images are (B,H,W,C). */
#ifndef TENSOR_H
#define TENSOR_H

#include "graph/dtype.h"

#include <stdint.h>

enum { TENSOR_MAX_RANK = 5, TENSOR_NONE = -1 };

enum role {
    ROLE_INPUT,     /* a batch of the data set: inputs or targets */
    ROLE_PARAM,     /* FP32 master weight */
    ROLE_SHADOW,    /* a packed copy of a param, in the layout that one GEMM wants */
    ROLE_ACT,       /* an output of a node */
    ROLE_SAVED,     /* what forward keeps for backward besides its inputs and outputs */
    ROLE_GRAD,      /* gradient of an activation */
    ROLE_DPARAM,    /* gradient of a param, FP32 */
    ROLE_STATE,     /* optimizer state, FP32 */
    ROLE_STATISTIC, /* what a layer remembers from batch to batch (running mean), FP32 */
    ROLE_STAGED,    /* the same after the step that is being made; the step commits it, or not */
    ROLE_FUSED,     /* never stored: the node that makes it goes on in registers */
    ROLE_COUNT
};

const char *role_name(enum role r);

enum init_kind { INIT_KAIMING, INIT_XAVIER, INIT_NORMAL, INIT_UNIFORM, INIT_CONSTANT, INIT_ZEROS };

/* How a param starts. scale: kaiming, xavier: gain; normal: standard deviation; uniform: bound;
 * constant: the value. */
struct init {
    enum init_kind kind;
    double scale;
    int64_t fan_in, fan_out;
};

struct tensor {
    const char *name; /* unique: "fc1.weight", "fc1", "d_fc1" */
    enum dtype dtype;
    enum role role;
    bool batched; /* dims[0] is the batch; its planned size, a step may use less */
    int rank;
    int64_t dims[TENSOR_MAX_RANK]; /* all positive */
    int of;                        /* shadow, gradient, state, staged: the tensor it belongs to */
    int grad;                      /* id of its gradient, TENSOR_NONE where none is needed */
    struct init init;              /* param, statistic */
    bool no_decay;                 /* param: a vector (bias, gain): optimizer.decay may skip it */

    int first_use, last_use; /* on the plan's timeline; -1: lives for the whole run */
    size_t bytes, offset;    /* in the arena of its role */
    void *data;              /* bound once */
};

int64_t tensor_elements(const struct tensor *t);
/* Elements of one row of the batch: all dims but the first of a batched tensor. */
int64_t tensor_row_elements(const struct tensor *t);
/* The last dimension: features or channels. */
int64_t tensor_columns(const struct tensor *t);
/* "(64,784)"; a batched tensor says "(B,784)". */
enum { TENSOR_SHAPE_ROOM = 96 };
const char *tensor_shape(char out[TENSOR_SHAPE_ROOM], const struct tensor *t);

#endif
