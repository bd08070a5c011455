/* spec_keys.c: the key tables of the config's own sections (spec.h).
 *
 * To add a key: a field in its struct in spec.h and a row here. */
#include "config.h"

#include "config/spec_read.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* A row that its owner looks up in the map itself. */
#define OWN(key_name, key_help)                                                                    \
    {                                                                                              \
        .name = key_name, .type = KEY_VALUE, .offset = KEY_NO_FIELD, .help = key_help              \
    }

const struct key spec_top_keys[] = {
    {"seed", KEY_INT, offsetof(struct spec_top, seed), "0", 0, INFINITY, 0, NULL,
     "start of all random numbers: the same seed gives the same bits"},
    OWN("data", "where the rows come from; required"),
    OWN("model", "the layers, in order; required"),
    OWN("loss", "what is made small; required"),
    OWN("precision", "which layers run in which type"),
    OWN("loss_scale", "factor that keeps small gradients alive in FP16"),
    OWN("optimizer", "how weights change"),
    OWN("schedule", "how the learning rate changes"),
    OWN("train", "how long and how to train"),
    OWN("checkpoint", "when to save"),
    OWN("log", "what to log"),
    {0},
};

#define AT(field) offsetof(struct data_spec, field)
const struct key spec_data_keys[] = {
    {"type", KEY_TEXT, AT(type), NULL, 0, 0, 0, NULL, "format of the data: see the readers below"},
    OWN("train", "the rows to learn from; required"),
    OWN("validation", "rows to watch while training"),
    OWN("test", "rows for the final figure"),
    {"hold_out", KEY_FLOAT, AT(hold_out), "0", 0, 1, KEY_BELOW_MAX, NULL,
     "share of train, picked by seed, that becomes the validation rows"},
    {"shuffle", KEY_BOOL, AT(shuffle), "true", 0, 0, 0, NULL,
     "whether each epoch takes the rows in a new order"},
    {"divide", KEY_FLOAT, AT(divide), "1", 0, INFINITY, KEY_ABOVE_MIN, NULL,
     "all inputs are divided by it, before normalize"},
    {"normalize", KEY_CHOICE, AT(normalize), "none", 0, 0, 0, "none|standard|minmax",
     "standard: mean 0, deviation 1; minmax: 0 to 1; constants come from train"},
    {"normalize_by", KEY_CHOICE, AT(normalize_by), "column", 0, 0, 0, "column|channel|all",
     "constants for each column, for each value of the last dimension (the colours of images), or "
     "one for all"},
    {"reconstruct", KEY_BOOL, AT(reconstruct), "false", 0, 0, 0, NULL,
     "the targets are the inputs, normalised but not augmented: for autoencoders. Targets of the "
     "files are not read"},
    OWN("augment", "random changes to training images"),
    {0},
};

/* The keys of every layer besides its op's own; spec_model.c copies them into struct layer. */
#undef AT
#define AT(field) offsetof(struct layer, field)
#define NAME                                                                                       \
    {                                                                                              \
        "name", KEY_TEXT, AT(name), "", 0, 0, KEY_NOT_EMPTY, NULL,                                 \
            "letters, digits, _ and -; where not given, the op and a number: linear1"              \
    }
#define FROM                                                                                       \
    {                                                                                              \
        "from", KEY_TEXTS, AT(from), "[]", 0, 0, 0, NULL,                                          \
            "names of the layers that it reads; where not given, the one before"                   \
    }
const struct key spec_layer_keys[] = {NAME, FROM, {0}};
const struct key spec_residual_keys[] = {
    NAME,
    FROM,
    OWN("layers", "the block that is added to its input"),
    OWN("projection", "the layers that its input goes through before it is added, to fit in shape; "
                      "where not given, none"),
    {0},
};
const struct key spec_repeat_keys[] = {
    NAME,
    FROM,
    {"times", KEY_INT, AT(times), NULL, 1, 100000, 0, NULL, "how many copies, one after the other"},
    OWN("layers", "what is repeated"),
    {0},
};

#undef AT
#define AT(field) offsetof(struct precision_spec, field)
const struct key spec_precision_keys[] = {
    {"compute", KEY_CHOICE, AT(compute), "bf16", 0, 0, 0, "fp32|bf16|fp16",
     "the type that layers of class allow run in"},
    OWN("fp32", "lists of what runs in FP32, and what not"),
    OWN("bf16", "lists of what runs in BF16, and what not"),
    OWN("fp16", "lists of what runs in FP16, and what not"),
    {"param_grads", KEY_CHOICE, AT(param_grads), "fp32", 0, 0, 0, "fp32|compute",
     "type in which gradients of params are kept"},
    {0},
};

/* Both lists are walked with the places of their items, so they are read by hand. */
const struct key spec_precision_list_keys[] = {
    OWN("allow", "ops, layers or globs that run in this type"),
    OWN("deny", "ops, layers or globs that never run in it"),
    {0},
};

#undef AT
#define AT(field) offsetof(struct loss_scale_spec, field)
const struct key spec_loss_scale_keys[] = {
    {"type", KEY_CHOICE, AT(type), "auto", 0, 0, 0, "auto|none|static|dynamic",
     "auto: dynamic where any layer runs in FP16, else none; off is another word for none"},
    {"scale", KEY_FLOAT, AT(scale), "1", 0, 0x1p126, KEY_ABOVE_MIN, NULL,
     "static: the scale; required there"},
    {"init", KEY_FLOAT, AT(init), "65536", 0, 0x1p126, KEY_ABOVE_MIN, NULL, "dynamic: first scale"},
    {"growth", KEY_FLOAT, AT(growth), "2", 1, 65536, KEY_ABOVE_MIN, NULL,
     "dynamic: factor after interval clean steps"},
    {"backoff", KEY_FLOAT, AT(backoff), "0.5", 0, 1, KEY_ABOVE_MIN | KEY_BELOW_MAX, NULL,
     "dynamic: factor on overflow"},
    {"interval", KEY_INT, AT(interval), "2000", 1, INFINITY, 0, NULL,
     "dynamic: clean steps before the scale grows"},
    {"hysteresis", KEY_INT, AT(hysteresis), "1", 1, INFINITY, 0, NULL,
     "dynamic: overflows before the scale backs off"},
    {"refill", KEY_CHOICE, AT(refill), "on_clean_step", 0, 0, 0, "on_clean_step|on_growth",
     "dynamic: when hysteresis starts anew"},
    {"min", KEY_FLOAT, AT(min), "1", 0, 0x1p126, KEY_ABOVE_MIN, NULL, "dynamic: the floor"},
    {"max", KEY_FLOAT, AT(max), "16777216", 0, 0x1p126, KEY_ABOVE_MIN, NULL,
     "dynamic: the ceiling"},
    {0},
};

#undef AT
#define AT(field) offsetof(struct optimizer_spec, field)
const struct key spec_optimizer_keys[] = {
    {"type", KEY_TEXT, AT(type), "adamw", 0, 0, 0, NULL, "see the optimizers below"},
    {"lr", KEY_FLOAT, AT(lr), "1e-3", 0, INFINITY, KEY_ABOVE_MIN, NULL, "learning rate"},
    {"weight_decay", KEY_FLOAT, AT(weight_decay), ".nan", 0, INFINITY, 0, NULL,
     "pull of weights towards 0; where not given 0.01 for adamw, else 0"},
    {"decay", KEY_CHOICE, AT(decay), "all", 0, 0, 0, "all|matrices",
     "which params decay: matrices leaves out biases and gains"},
    {0},
};

#undef AT
#define AT(field) offsetof(struct train_spec, field)
const struct key spec_train_keys[] = {
    {"batch", KEY_INT, AT(batch), "32", 1, 0x1p31 - 1, 0, NULL, "rows of one forward pass"},
    {"accumulate", KEY_INT, AT(accumulate), "1", 1, 0x1p31 - 1, 0, NULL,
     "batches whose gradients are added up for one step"},
    {"epochs", KEY_INT, AT(epochs), "0", 1, 0x1p53, 0, NULL,
     "passes over the data; give this or steps; with neither, 10"},
    {"steps", KEY_INT, AT(steps), "0", 1, 0x1p53, 0, NULL, "steps, skipped ones included"},
    {"clip_norm", KEY_FLOAT, AT(clip_norm), "0", 0, INFINITY, 0, NULL,
     "largest norm of all gradients together; 0: no clipping"},
    {"max_skips", KEY_INT, AT(max_skips), "50", 1, INFINITY, 0, NULL,
     "skipped steps in a row that end the run"},
    OWN("eval", "evaluation while training"),
    {0},
};

#undef AT
#define AT(field) offsetof(struct eval_spec, field)
const struct key spec_eval_keys[] = {
    {"split", KEY_CHOICE, AT(split), "auto", 0, 0, 0, "auto|validation|test|train",
     "which rows; auto: validation, else test, else train"},
    {"every_steps", KEY_INT, AT(every_steps), "0", 0, INFINITY, 0, NULL,
     "steps between evaluations; 0: not by steps"},
    {"every_epochs", KEY_INT, AT(every_epochs), "1", 0, INFINITY, 0, NULL,
     "epochs between evaluations; 0: not by epochs; 0 too where every_steps is given"},
    {"patience", KEY_INT, AT(patience), "0", 0, INFINITY, 0, NULL,
     "evaluations without gain before the run stops; 0: never"},
    {"metric", KEY_CHOICE, AT(metric), "loss", 0, 0, 0, "loss|accuracy", "what best means"},
    {0},
};

#undef AT
#define AT(field) offsetof(struct checkpoint_spec, field)
const struct key spec_checkpoint_keys[] = {
    {"every_steps", KEY_INT, AT(every_steps), "0", 0, INFINITY, 0, NULL,
     "steps between checkpoints; 0: not by steps"},
    {"every_epochs", KEY_INT, AT(every_epochs), "1", 0, INFINITY, 0, NULL,
     "epochs between checkpoints; 0: not by epochs; 0 too where every_steps is given"},
    {"keep", KEY_INT, AT(keep), "3", 0, INFINITY, 0, NULL, "how many stay; 0: all"},
    {"best", KEY_BOOL, AT(best), "true", 0, 0, 0, NULL, "whether best.mpt is kept beside them"},
    {"level", KEY_INT, AT(level), "1", 0, 9, 0, NULL, "how hard to compress; 0: not at all"},
    {0},
};

#undef AT
const struct key spec_log_keys[] = {
    {"every", KEY_INT, offsetof(struct log_spec, every), "1", 1, INFINITY, 0, NULL,
     "steps between step records"},
    {0},
};

bool spec_key_scale_uses(int type, const char *key)
{
    enum { AUTO, NONE, STATIC }; /* as in the choices of `type` */
    if (strcmp(key, "type") == 0)
        return true;
    if (strcmp(key, "scale") == 0)
        return type == STATIC;
    return type != NONE && type != STATIC;
}

/* ---- where a word belongs ---- */

/* What other programs call our keys. */
static const struct {
    const char *word, *home;
} foreign[] = {
    {"learning_rate", "optimizer.lr"},
    {"batch_size", "train.batch"},
    {"num_epochs", "train.epochs"},
    {"num-epochs", "train.epochs"},
    {"max_epochs", "train.epochs"},
    {"max_steps", "train.steps"},
    {"num_steps", "train.steps"},
    {"lr_scheduler", "schedule"},
    {"grad_clip", "train.clip_norm"},
    {"max_norm", "train.clip_norm"},
    {"growth_interval", "loss_scale.interval"},
    {"growth_factor", "loss_scale.growth"},
    {"backoff_factor", "loss_scale.backoff"},
    {"init_scale", "loss_scale.init"},
    {"dtype", "precision.compute"},
};

static const char *next_foreign(const void *context, int i)
{
    (void)context;
    return i < (int)COUNT_OF(foreign) ? foreign[i].word : NULL;
}

const char *spec_key_home(const char *word)
{
    static const struct {
        const char *where;
        const struct key *rows;
    } sections[] = {
        {"train", spec_train_keys},
        {"optimizer", spec_optimizer_keys},
        {"precision", spec_precision_keys},
        {"data", spec_data_keys},
        {"data.augment", augment_keys},
        {"loss_scale", spec_loss_scale_keys},
        {"schedule", schedule_keys},
        {"checkpoint", spec_checkpoint_keys},
        {"train.eval", spec_eval_keys},
        {"log", spec_log_keys},
    };
    static _Thread_local char home[64];
    for (const struct key *row = spec_top_keys; row->name; row++)
        if (strcmp(row->name, word) == 0)
            return row->name;
    for (size_t s = 0; s < COUNT_OF(sections); s++)
        for (const struct key *row = sections[s].rows; row->name; row++)
            if (strcmp(row->name, word) == 0 && strcmp(word, "type") != 0) {
                snprintf(home, sizeof(home), "%s.%s", sections[s].where, word);
                return home;
            }
    const char *near = str_nearest(word, next_foreign, NULL);
    for (size_t i = 0; near && i < COUNT_OF(foreign); i++)
        if (foreign[i].word == near)
            return foreign[i].home;
    return NULL;
}
