/* spec.h: what the YAML says, checked and with defaults filled in. Immutable after config_load.
 *
 * Every value is in a struct section (base/keys.h), which keeps its place in the file and whether
 * the user gave it. Key tables: spec_keys.c for the sections below; each op, optimizer, reader and
 * the schedule has its own beside its code. */
#ifndef SPEC_H
#define SPEC_H

#include "base/diag.h"
#include "base/keys.h"
#include "base/pool.h"
#include "dataset/augment.h"
#include "dataset/dataset.h"
#include "graph/dtype.h"
#include "op/op.h"
#include "optim/optim.h"
#include "optim/schedule.h"

enum layer_kind { LAYER_OP, LAYER_RESIDUAL, LAYER_REPEAT };

/* One item of `model`, or the loss. */
struct layer {
    enum layer_kind kind;
    const struct op *op; /* LAYER_OP */
    const char *name;    /* as given, or made: "linear1"; unique within its list */
    bool named;          /* the user gave the name */
    struct loc loc;
    struct section attrs; /* LAYER_OP: the op's keys */
    struct key_list from; /* const char *: names of the layers it reads; n 0: the one before */
    struct loc from_loc;
    int64_t times; /* LAYER_REPEAT */
    int n_layers;  /* LAYER_RESIDUAL, LAYER_REPEAT */
    struct layer *layers;
    int n_projection; /* LAYER_RESIDUAL: what its input goes through before it is added */
    struct layer *projection;
};

enum rule_action { RULE_ALLOW, RULE_DENY };

/* One entry of a precision list. */
struct precision_rule {
    enum dtype dtype; /* of the list */
    enum rule_action action;
    const char *selector; /* op name, layer name or glob */
    struct loc loc;
};

struct precision_spec {
    int compute;     /* index into fp32|bf16|fp16: use precision_dtype() */
    int param_grads; /* 0 fp32, 1 compute */
    int n_rules;
    struct precision_rule *rules;
};

enum scale_type { SCALE_NONE, SCALE_STATIC, SCALE_DYNAMIC };
enum scale_refill { REFILL_ON_CLEAN_STEP, REFILL_ON_GROWTH };

/* `loss_scale`. type is SCALE_AUTO until the plan knows whether any op runs in FP16. */
struct loss_scale_spec {
    int type;     /* auto|none|static|dynamic: enum scale_type + 1, 0 auto */
    double scale; /* static */
    double init, growth, backoff, min, max;
    int64_t interval, hysteresis;
    int refill;
};

struct optimizer_spec {
    const char *type;
    const struct optim *optim;
    double lr;
    double weight_decay;  /* where not given: 0.01 for adamw, else 0 */
    int decay;            /* 0 all, 1 matrices */
    struct section attrs; /* the optimizer's own keys */
};

struct data_spec {
    const char *type;
    const struct reader *reader;
    bool has_train, has_validation, has_test;
    struct section train, validation, test; /* the reader's keys */
    double hold_out;                        /* share of train that becomes validation */
    bool shuffle, reconstruct;
    double divide;
    int normalize, normalize_by;
    struct augment augment;
};

enum eval_split { EVAL_AUTO, EVAL_VALIDATION, EVAL_TEST, EVAL_TRAIN };
enum eval_metric { METRIC_LOSS, METRIC_ACCURACY };

struct eval_spec {
    int split;
    int64_t every_steps, every_epochs;
    int64_t patience; /* evaluations without improvement before the run stops; 0: never */
    int metric;       /* what "best" means */
};

struct train_spec {
    int64_t batch, accumulate, epochs, steps; /* steps 0: by epochs */
    double clip_norm;                         /* 0: no clipping */
    int64_t max_skips;                        /* consecutive skipped steps that end the run */
    struct eval_spec eval;
};

struct checkpoint_spec {
    int64_t every_steps, every_epochs, keep;
    bool best;
    int64_t level; /* deflate 0..9 */
};

struct log_spec {
    int64_t every; /* steps between step records */
};

/* Key tables of the sections that belong to the config itself (spec_keys.c). Those of `schedule`,
 * and of each op, optimizer and reader, stand beside their code. */
extern const struct key spec_top_keys[], spec_data_keys[], spec_layer_keys[], spec_residual_keys[],
    spec_repeat_keys[], spec_precision_keys[], spec_precision_list_keys[], spec_loss_scale_keys[],
    spec_optimizer_keys[], spec_train_keys[], spec_eval_keys[], spec_checkpoint_keys[],
    spec_log_keys[];

struct spec {
    struct pool pool;
    const char *path;   /* of the config file, as given */
    const char *folder; /* that relative paths are relative to */
    const char *name;   /* file name without folder and ending: names the run */
    int64_t seed;
    struct data_spec data;
    int n_layers;
    struct layer *layers;
    struct layer loss;
    struct precision_spec precision;
    struct loss_scale_spec loss_scale;
    struct optimizer_spec optimizer;
    struct schedule schedule;
    struct train_spec train;
    struct checkpoint_spec checkpoint;
    struct log_spec log;
    /* For writing the effective config and for messages: */
    struct section top_section, data_section, augment_section, precision_section,
        loss_scale_section, optimizer_section, schedule_section, train_section, eval_section,
        checkpoint_section, log_section;
};

/* Reads a config file and applies `sets` ("optimizer.lr=3e-4") through the same schema. All
 * problems go to d. RC_CONFIG, or RC_USAGE where only --set is wrong. On failure *out is released.
 */
MUST_USE enum rc config_load(struct spec *out, const char *path, const char *const *sets,
                             int n_sets, struct diag *d);
/* The same from text in memory (a checkpoint's config): `name` stands in messages, relative paths
 * are relative to `folder`. */
MUST_USE enum rc config_load_text(struct spec *out, const char *text, size_t length,
                                  const char *name, const char *folder, const char *const *sets,
                                  int n_sets, struct diag *d);
void spec_release(struct spec *s);

/* The effective config, every default written out, valid YAML that gives the same spec. Paths are
 * absolute. */
void config_write(const struct spec *s, struct str *out);
/* Warns where two effective configs differ in a key outside of model, loss, checkpoint and log; a
 * note for each. */
void config_compare(const char *before, const char *now, struct loc loc, struct diag *d);

enum dtype precision_dtype(const struct precision_spec *p);

#endif
