/* node.h: one operation of the graph: what it reads and writes, in which precision, and why. */
#ifndef NODE_H
#define NODE_H

#include "base/diag.h"
#include "base/keys.h"
#include "graph/dtype.h"

#include <stdbool.h>

struct op;
struct gemm_plan;

enum {
    NODE_MAX_IN = 8,
    NODE_MAX_PARAMS = 8,
    NODE_MAX_SAVED = 4,
    NODE_MAX_GEMMS = 4,
    NODE_MAX_STATISTICS = 2
};

struct node {
    const struct op *op;
    const char *name;     /* unique: "fc1", "blocks.0.fc" */
    struct loc loc;       /* of the layer in the config */
    struct section attrs; /* its keys; attrs.at is the op's own struct */
    int id;               /* index in the graph, execution order */
    bool inserted;        /* by a pass (cast, residual add), not written by the user */

    int n_in, n_params, n_saved, n_gemms, n_statistics;
    int in[NODE_MAX_IN]; /* tensor ids */
    int out;
    int param[NODE_MAX_PARAMS];
    int saved[NODE_MAX_SAVED];
    int statistic[NODE_MAX_STATISTICS];           /* as the last applied step left it */
    int staged[NODE_MAX_STATISTICS];              /* what a training forward writes */
    int shadow[NODE_MAX_GEMMS];                   /* packed weight of GEMM i, or TENSOR_NONE */
    const struct gemm_plan *gemm[NODE_MAX_GEMMS]; /* chosen by plan/pass_kernels.c */

    /* precision: set by plan/pass_precision.c and by nobody else */
    enum dtype dtype;    /* the op runs in this type: activations in and out */
    const char *rule;    /* "class allow", "layer name 'head' in fp32.allow", ... */
    struct loc rule_loc; /* of the rule in the config; NOWHERE for a built-in class */

    /* set by plan/pass_fuse.c: an activation that the node applies while it stores its output */
    int act;              /* enum gemm_act; 0: none */
    const char *act_name; /* of the layer it was; "relu1" */
    int pre;              /* what act is applied to, where backward needs it; else TENSOR_NONE */

    /* backward: set by plan/pass_backward.c */
    bool has_backward;           /* some gradient flows through it */
    bool grad_adds[NODE_MAX_IN]; /* the gradient of input i is added to what is there */

    size_t scratch_bytes; /* booked by the op; one buffer for the node */
    double flops;         /* of the forward pass, a full batch */
};

#endif
