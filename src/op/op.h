/* op.h: what a layer or a loss is. One op is one file, op_<name>.c, and one line in op.list.
 *
 * To add a layer: write op_<name>.c ending in `const struct op op_<name>`, add OP(<name>) to
 * op.list and the file to Makefile.am. The config keys, man page rows, `list ops`, tests and fuzz
 * seeds come from the record. Start from op_linear.c (a GEMM) or op_relu.c (elementwise).
 *
 * shape() is the only function here that may fail. forward() and backward() return nothing,
 * allocate nothing, read no policy and know no half type: they compute in FP32 over tiles
 * (kern_cast.h, kern_vec.h) or call kern_gemm. */
#ifndef OP_H
#define OP_H

#include "base/rng.h"
#include "graph/graph.h"
#include "kern/kern_cast.h"
#include "kern/kern_gemm.h"

#include <stddef.h>

/* Which precision an op gets when no rule of the config names it (plan/pass_precision.c). */
enum op_class {
    OP_ALLOW, /* the compute dtype: GEMMs gain from it */
    OP_DENY,  /* FP32: losses, reductions over a batch */
    OP_INFER, /* half where all inputs are of one half type; FP32 inside in any case */
    OP_CLEAR, /* whatever its input is: it moves values and does no arithmetic */
};
const char *op_class_name(enum op_class c);

enum op_kind {
    OP_LAYER,
    OP_LOSS,     /* in the config's `loss`; its second input is the targets */
    OP_INTERNAL, /* inserted by a pass, never written in a config */
};

/* What backward() reads besides the gradient of its output and its params. */
enum op_reads {
    OP_READS_IN = 1,  /* its inputs */
    OP_READS_OUT = 2, /* its output */
};

enum target_kind { TARGET_NONE, TARGET_CLASS, TARGET_REAL };

/* Sums over a batch; a mean is sum / count. Added up over micro-batches and batches. */
struct op_loss {
    double sum;      /* of the losses of valid targets, before any scale */
    int64_t count;   /* valid targets */
    int64_t correct; /* where the loss has an accuracy: right answers */
};

/* What one run of the graph knows. Filled by train/. */
struct op_run {
    const struct graph *graph;
    int64_t rows;   /* of this batch, 1 .. graph->batch */
    bool training;  /* dropout acts, running statistics are staged */
    uint64_t seed;
    uint64_t draw;  /* number of this micro-batch since the start of the run: keys dropout */
    bool add_dparams; /* gradients of params are added to what is there (a later micro-batch) */
    /* d loss is multiplied by this before anything is narrowed: loss scale / valid targets of the
     * whole accumulation window. FP64: 2^16 does not fit FP16. */
    double loss_seed;
    struct op_loss *loss; /* the forward of a loss writes the sums of this batch */
    void *scratch; /* the largest booking of all nodes, 64-byte aligned */
};

/* Handed to plan(). */
struct op_planner {
    struct graph *graph;
    struct pool *pool;
    bool training;
    bool failed; /* out of memory */
};

enum { OP_CASE_MAX_IN = 3 };

/* A small example of the op: tests, fuzz seeds and bench all walk these. */
struct op_case {
    const char *attrs; /* YAML of the op's keys: "{units: 3}"; NULL: none */
    int n_in;
    struct {
        int rank;
        int64_t dims[TENSOR_MAX_RANK]; /* dims[0] is the batch */
    } in[OP_CASE_MAX_IN];              /* of a loss: the prediction only; targets are made up */
    double kink;  /* inputs keep this far from 0, where the function has a corner there */
};

struct op {
    const char *name, *help;
    enum op_kind kind;
    enum op_class class;
    int in_min, in_max;
    const struct key *keys; /* its config keys; NULL: none */
    size_t attrs_size;      /* of the struct that keys fills */
    unsigned reads;         /* enum op_reads */

    /* Infers the output (op_add_out), declares params and saved tensors. Problems with the shapes
     * or keys go to d as RC_CONFIG at n->loc. A loss has no output: n->out stays TENSOR_NONE. */
    enum rc (*shape)(struct graph *g, struct node *n, struct diag *d);
    /* Picks GEMMs (op_plan_gemm) and books scratch. May be NULL. dtypes are final. */
    void (*plan)(struct op_planner *p, struct node *n);
    void (*forward)(const struct op_run *r, const struct node *n);
    /* Writes (or adds to, n->grad_adds) the gradients of those inputs that have one, and writes (or
     * adds to, r->add_dparams) those of the params. */
    void (*backward)(const struct op_run *r, const struct node *n);
    double (*flops)(const struct graph *g, const struct node *n); /* forward, full batch; NULL: 0 */

    /* What the layer is in the store loop of the op before it; NULL: never fused. */
    enum gemm_act (*as_act)(const struct node *n);
    /* forward() applies n->act to what it stores, and the input of act to n->pre where that is a
     * tensor; backward() starts with op_undo_act. */
    bool takes_act;

    /* losses only */
    enum target_kind target;
    /* valid targets among rows; targets (rows, columns of the target) i32 or f32 */
    int64_t (*count)(const struct graph *g, const struct node *n, const void *targets,
                     int64_t rows);
    bool has_accuracy;
    /* label that does not count, or -1 where the loss has none: for range checks of the data */
    int64_t (*ignored_label)(const struct node *n);

    const struct op_case *cases; /* ends with n_in 0; required */
};

enum op_id {
#define OP(name) OP_##name,
#include "op/op.list"
#undef OP
    OP_COUNT
};

#define OP(name) extern const struct op op_##name;
#include "op/op.list"
#undef OP

const struct op *op_get(enum op_id id);
const struct op *op_find(const char *name); /* NULL: none */
const struct op *op_at(int i);              /* NULL behind the last */

/* ---- for shape() ---- */
/* The output tensor, named as the node. Half types are set later, by the precision pass. */
MUST_USE enum rc op_add_out(struct graph *g, struct node *n, int rank, const int64_t *dims,
                            struct diag *d);
MUST_USE enum rc op_add_out_like(struct graph *g, struct node *n, int input, struct diag *d);
/* A param "<node>.<suffix>", FP32, with its gradient tensor. vector: rank 1, exempt from
 * optimizer.decay: matrices. */
MUST_USE enum rc op_add_param(struct graph *g, struct node *n, const char *suffix, int rank,
                              const int64_t *dims, struct init init, struct diag *d);
/* FP32 tensor "<node>.<suffix>" that forward keeps for backward; batched as given. */
MUST_USE enum rc op_add_saved(struct graph *g, struct node *n, const char *suffix, bool batched,
                              int rank, const int64_t *dims, struct diag *d);
/* FP32 tensor "<node>.<suffix>" (C) that outlives the step, starting at `start`, in node.statistic;
 * and its twin in node.staged: a training forward reads and writes the twin, which becomes the
 * statistic with the step, or not at all (train/step.c). Everything else reads the statistic. */
MUST_USE enum rc op_add_statistic(struct graph *g, struct node *n, const char *suffix, int64_t c,
                                  double start, struct diag *d);
MUST_USE enum rc op_shape_same(struct graph *g, struct node *n,
                               struct diag *d); /* a whole shape() */

/* The keys init and init_scale of every layer with weights: put OP_INIT_KEYS(struct, field) into
 * its key table, where field is a struct op_init_attrs. */
struct op_init_attrs {
    int kind;     /* enum init_kind */
    double scale; /* 0: the usual one of the kind */
};
#define OP_INIT_KEYS(type, field)                                                                  \
    {"init", KEY_CHOICE, offsetof(type, field.kind), "kaiming", 0, 0, 0,                           \
     "kaiming|xavier|normal|uniform|constant|zeros", "How the weights start."},                    \
    {"init_scale", KEY_FLOAT, offsetof(type, field.scale), "0", -1e30, 1e30, 0, NULL,              \
     "kaiming: gain g, uniform within g sqrt(3/fan_in); xavier: gain g, uniform within "           \
     "g sqrt(6/(fan_in+fan_out)); normal: standard deviation; uniform: bound; constant: the "      \
     "value. 0: the usual one, which is sqrt(1/3), 1, 0.02, 0.05 and 0."}
/* Refuses a scale that the kind cannot use. */
MUST_USE enum rc op_check_init(const struct node *n, const struct op_init_attrs *a,
                               struct diag *d);
struct init op_init(const struct op_init_attrs *a, int64_t fan_in, int64_t fan_out);

/* ---- for plan() ---- */
/* Picks the row for GEMM `slot` of the node, books its scratch, and where B is a weight that the
 * row wants packed adds the shadow tensor of `param`. */
void op_plan_gemm(struct op_planner *p, struct node *n, int slot, const struct gemm_desc *desc,
                  int param);
void op_plan_scratch(struct node *n, size_t bytes);

/* ---- for forward() and backward() ---- */
struct view op_view(const struct op_run *r, int tensor); /* any float tensor */
float *op_f32(const struct op_run *r, int tensor);       /* a tensor that is FP32 by contract */
/* Gradient of input i; data NULL where none is wanted. */
struct view op_d_in(const struct op_run *r, const struct node *n, int i);
struct view op_d_out(const struct op_run *r, const struct node *n);
float *op_d_param(const struct op_run *r, const struct node *n, int i);
/* Elements of this batch in a tensor: rows x row elements. */
int64_t op_elements(const struct op_run *r, int tensor);
/* The random key of this node for this micro-batch: by name, so that a cast inserted elsewhere
 * changes nothing. */
struct rng_key op_rng(const struct op_run *r, const struct node *n);

/* Runs body over tiles of at most KERN_TILE elements, on all threads. */
void op_tiles(int64_t n, void (*body)(void *context, int64_t at, int64_t n), void *context);

/* to = from, or to += from, over n elements, on all threads. */
void op_copy(struct view to, struct view from, int64_t n, bool add);

/* Elementwise helpers: the whole forward/backward of an activation. f gets (n, x, out), g gets
 * (n, saved, dy, out), where saved is the input or the output as op->reads says. */
void op_map(const struct op_run *r, const struct node *n,
            void (*f)(const void *attrs, int64_t n, const float *x, float *out));
void op_map_grad(const struct op_run *r, const struct node *n,
                 void (*g)(const void *attrs, int64_t n, const float *saved, const float *dy,
                           float *out));

/* The gradient of what n->act was applied to, which replaces that of the output. A view of it. */
struct view op_undo_act(const struct op_run *r, const struct node *n);

/* Column sums: out (C) [+]= sum over rows of x (rows, C); fixed order, FP32 in and out. */
void op_column_sum(struct view x, int64_t rows, int64_t columns, float *out, bool add);

#endif
