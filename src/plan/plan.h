/* plan.h: from the spec to everything that a step needs: the graph, the precision of each node and
 * the rule that set it, the kernels, the memory. Immutable after plan_make.
 *
 * Made by a list of passes (plan.c). What a pass finds wrong is the user's, told with its line. */
#ifndef PLAN_H
#define PLAN_H

#include "base/arena.h"
#include "base/str.h"
#include "config/spec.h"
#include "graph/graph.h"

/* What the plan must know of the data. */
struct plan_data {
    int rank; /* of one input row */
    int64_t dims[TENSOR_MAX_RANK];
    int64_t target_columns; /* of one row; 1 for classes; 0: not known, as the model gives */
};

struct plan_totals {
    int64_t parameters;  /* elements */
    size_t param_bytes;  /* FP32 masters */
    size_t shadow_bytes; /* packed half copies */
    size_t grad_bytes;   /* gradients of the params */
    size_t state_bytes;  /* optimizer state */
    size_t activation_bytes; /* outputs of nodes, what they save, their gradients: each once */
    size_t arena_bytes;  /* that these take together, since dead ones make room */
    size_t scratch_bytes;
    double flops_per_step; /* forward and backward of one micro-batch, times accumulate */
};

struct plan {
    struct pool pool;
    const struct spec *spec; /* borrowed */
    const struct plan_data *data; /* borrowed; used while the plan is made */
    bool training;           /* with backward and optimizer state */
    struct graph graph;
    int input, target;       /* tensors that a batch fills */
    int output;              /* what the model predicts: the loss's first input, before its cast */
    int loss;                /* node */
    bool uses_fp16;          /* some node runs in it */
    enum scale_type scale;   /* loss_scale.type, auto resolved */
    struct arena lasting;    /* params, their gradients, shadows, state, inputs, scratch */
    struct arena passing;    /* activations and their gradients, by lifetime */
    void *scratch;
    struct plan_totals totals;
    char fingerprint[17];    /* of names, ops, keys and shapes; not of the precision */
};

/* Runs the passes. On failure *out is released. data is borrowed during the call. */
MUST_USE enum rc plan_make(struct plan *out, const struct spec *spec, const struct plan_data *data,
                           bool training, struct diag *d);
/* Allocates the two arenas and gives every tensor its bytes. */
MUST_USE enum rc plan_bind(struct plan *p, struct diag *d);
void plan_release(struct plan *p);

/* Fills the shadows of all weights from their masters: at the start and after an applied update. */
void plan_pack_shadows(const struct plan *p);

/* The table of `mptrain plan`; verbose adds the kernel rows that were refused, and why. */
void plan_show(const struct plan *p, bool verbose, struct str *out);
/* The same as JSON; RC_FAILED when out of memory. */
MUST_USE enum rc plan_show_json(const struct plan *p, struct str *out);

#endif
