/* test_spec_refusals.c: every refusal of a config, with its exact words and place. Lists of what is
 * known ("known here: ...") are left out of the comparison: they grow with the program. */
#include "config.h"

#include "config/spec.h"

#include <check.h>
#include <string.h>

#define DATA "data: {type: idx, train: {inputs: a, targets: b}}\n"
#define MODEL "model: [{linear: {units: 3}}]\n"
#define LOSS "loss: cross_entropy\n"
#define BASE DATA MODEL LOSS

static const struct {
    const char *name, *text, *expected;
    const char *sets[4];
} cases[] = {
    {"steps_1e3",
     BASE "train: {steps: 1e3}\n",
     "t.yaml:4:16: error: 'train.steps' must be a whole number, not '1e3'\n"
     "t.yaml:4:16: note: write 1000\n",
     {0}},
    {"lr_bad",
     BASE "optimizer: {lr: 1e-4x}\n",
     "t.yaml:4:17: error: 'optimizer.lr' must be a number, not '1e-4x'\n",
     {0}},
    {"lr_quoted",
     BASE "optimizer: {lr: \"1e-4\"}\n",
     "t.yaml:4:17: error: 'optimizer.lr' must be a number, not the text \"1e-4\"\n"
     "t.yaml:4:17: note: drop the quotes: 1e-4\n",
     {0}},
    {"shuffle_no",
     "data: {type: idx, shuffle: no, train: {inputs: a, targets: b}}\n"
     "model: [{linear: {units: 3}}]\n" LOSS,
     "t.yaml:1:28: error: 'data.shuffle' must be true or false, not 'no'\n"
     "t.yaml:1:28: note: write false\n",
     {0}},
    {"shuffle_maybe",
     "data: {type: idx, shuffle: maybe, train: {inputs: a, targets: b}}\n"
     "model: [{linear: {units: 3}}]\n" LOSS,
     "t.yaml:1:28: error: 'data.shuffle' must be true or false, not 'maybe'\n",
     {0}},
    {"name_null",
     DATA "model:\n"
          "  - linear: {units: 3, name: null}\n"
          "  - linear: {units: 3, name: ~}\n"
          "  - linear: {units: 3, name: ''}\n" LOSS,
     "t.yaml:3:30: error: 'model.linear1.name' has no value: it must be text\n"
     "t.yaml:3:30: note: 'null' means nothing in YAML; for a text write \"null\"\n"
     "t.yaml:4:30: error: 'model.linear2.name' has no value: it must be text\n"
     "t.yaml:4:30: note: '~' means nothing in YAML; for a text write \"~\"\n"
     "t.yaml:5:30: error: 'model.linear3.name' must not be empty\n",
     {0}},
    {"dup_lr",
     BASE "optimizer:\n"
          "  lr: 0.1\n"
          "  type: sgd\n"
          "  lr: 0.001\n",
     "t.yaml:7:3: error: the key 'lr' stands here twice\n"
     "t.yaml:5:3: note: the first one is here\n",
     {0}},
    {"dup_in_layer",
     DATA "model:\n"
          "  - linear: {units: 3, units: 4}\n" LOSS,
     "t.yaml:3:24: error: the key 'units' stands here twice\n"
     "t.yaml:3:14: note: the first one is here\n",
     {0}},
    {"dup_names",
     DATA "model:\n"
          "  - linear: {units: 3, name: a}\n"
          "  - relu\n"
          "  - linear: {units: 3, name: a}\n" LOSS,
     "t.yaml:5:5: error: two layers of 'model' are called 'a'\n"
     "t.yaml:3:5: note: the first one is here\n",
     {0}},
    {"dup_rule",
     BASE "precision:\n"
          "  fp32: {allow: [sigmoid, relu, sigmoid]}\n",
     "t.yaml:5:33: error: 'sigmoid' stands twice in 'fp32.allow'\n"
     "t.yaml:5:18: note: the first one is here\n",
     {0}},
    {"rule_of_nothing",
     DATA "model: [{liner: {units: 3}}, {linear: {units: 3, name: head}}]\n" LOSS "precision:\n"
          "  fp32: {allow: [sigmod, \"x.*\", head, liner1], deny: [cast]}\n",
     "t.yaml:2:10: error: unknown layer type 'liner' in 'model'\n"
     "t.yaml:2:10: note: did you mean 'linear'?\n"
     "t.yaml:5:18: error: precision: no layer and no op is called 'sigmod'\n"
     "t.yaml:5:18: note: did you mean 'sigmoid'?\n"
     "t.yaml:5:55: error: precision: no layer and no op is called 'cast'\n",
     {0}},
    {"allow_two",
     BASE "precision:\n"
          "  fp16: {allow: [linear]}\n"
          "  bf16: {allow: [linear]}\n",
     "t.yaml:5:18: error: 'linear' is in 'fp16.allow' and in 'bf16.allow'\n"
     "t.yaml:6:18: note: the first one is here\n",
     {0}},
    {"allow_deny",
     BASE "precision:\n"
          "  fp32: {allow: [linear], deny: [linear]}\n",
     "t.yaml:5:34: error: 'linear' is in 'fp32.deny' and in 'fp32.allow'\n"
     "t.yaml:5:18: note: the first one is here\n",
     {0}},
    {"two_docs",
     BASE "---\n"
          "seed: 1\n",
     "t.yaml:4:1: error: a second document starts here: one file is one config\n",
     {0}},
    {"misspelt",
     BASE "optimizer: {learing_rate: 0.1}\n",
     "t.yaml:4:13: error: unknown key 'learing_rate' in 'optimizer'\n"
     "t.yaml:4:13: note: did you mean 'optimizer.lr'?\n",
     {0}},
    {"learning_rate",
     BASE "optimizer: {learning_rate: 0.1}\n",
     "t.yaml:4:13: error: unknown key 'learning_rate' in 'optimizer'\n"
     "t.yaml:4:13: note: did you mean 'optimizer.lr'?\n",
     {0}},
    {"top_lr",
     BASE "learning_rate: 0.1\n"
          "num-epochs: 3\n"
          "epochs: 3\n",
     "t.yaml:4:1: error: unknown key 'learning_rate'\n"
     "t.yaml:4:1: note: did you mean 'optimizer.lr'?\n"
     "t.yaml:5:1: error: unknown key 'num-epochs'\n"
     "t.yaml:5:1: note: did you mean 'train.epochs'?\n"
     "t.yaml:6:1: error: unknown key 'epochs'\n"
     "t.yaml:6:1: note: did you mean 'train.epochs'?\n",
     {0}},
    {"growth",
     BASE "loss_scale: {growth_intervall: 5}\n"
          "x: 1\n",
     "t.yaml:4:14: error: unknown key 'growth_intervall' in 'loss_scale'\n"
     "t.yaml:4:14: note: did you mean 'loss_scale.interval'?\n"
     "t.yaml:5:1: error: unknown key 'x'\n",
     {0}},
    {"inside_model",
     DATA "model:\n"
          "  - linear: {units: 3}\n"
          "  - optimizer: {lr: 0.1}\n" LOSS,
     "t.yaml:4:5: error: unknown layer type 'optimizer' in 'model'\n"
     "t.yaml:4:5: note: it is a key outside of the model: 'optimizer'\n",
     {0}},
    {"model_map",
     DATA "model:\n"
          "  linear: {units: 3}\n" LOSS,
     "t.yaml:3:3: error: 'model' must be a list of layers, not a map\n",
     {0}},
    {"unknown_layer",
     DATA "model:\n"
          "  - liner: {units: 3}\n"
          "  - zzzz\n" LOSS,
     "t.yaml:3:5: error: unknown layer type 'liner' in 'model'\n"
     "t.yaml:3:5: note: did you mean 'linear'?\n"
     "t.yaml:4:5: error: unknown layer type 'zzzz' in 'model'\n",
     {0}},
    {"loss_as_layer",
     DATA "model:\n"
          "  - linear: {units: 3}\n"
          "  - mse\n"
          "  - cast\n" LOSS,
     "t.yaml:4:5: error: 'mse' is a loss: write it under 'loss'\n"
     "t.yaml:5:5: error: unknown layer type 'cast' in 'model'\n",
     {0}},
    {"layer_as_loss",
     DATA MODEL "loss: relu\n",
     "t.yaml:3:7: error: 'relu' is a layer, no loss: write it under 'model'\n",
     {0}},
    {"unknown_loss",
     DATA MODEL "loss: crossentropy\n",
     "t.yaml:3:7: error: unknown loss 'crossentropy' in 'loss'\n"
     "t.yaml:3:7: note: did you mean 'cross_entropy'?\n",
     {0}},
    {"loss_two",
     DATA MODEL "loss: {mse: {}, cross_entropy: {}}\n",
     "t.yaml:3:7: error: 'loss' must be one loss, or one loss with its keys, not a map of several "
     "keys\n",
     {0}},
    {"loss_list",
     DATA MODEL "loss: [mse]\n",
     "t.yaml:3:7: error: 'loss' must be one loss, or one loss with its keys, not a list\n",
     {0}},
    {"value_block",
     DATA "model:\n"
          "  - linear: 10\n" LOSS "train: 5\n"
          "optimizer: {type: [adam]}\n"
          "log: [1]\n",
     "t.yaml:3:13: error: 'model.linear1' must be a map of its keys, as in {name: x}, not a single "
     "value\n"
     "t.yaml:5:8: error: 'train' must be a map of keys, not '5'\n"
     "t.yaml:6:19: error: 'optimizer.type' must be text, not a list\n"
     "t.yaml:7:6: error: 'log' must be a map of keys, not a list\n",
     {0}},
    {"beside",
     DATA "model:\n"
          "  - linear:\n"
          "    units: 10\n" LOSS,
     "t.yaml:4:5: error: 'units' stands beside the layer 'linear' and not inside it\n"
     "t.yaml:4:5: note: indent the keys of a layer deeper than its name\n",
     {0}},
    {"layer_list",
     DATA "model:\n"
          "  - [relu]\n"
          "  - {}\n" LOSS,
     "t.yaml:3:5: error: a layer of 'model' must be a name, or a name with its keys, not a list\n"
     "t.yaml:4:5: error: a layer of 'model' must be a name, or a name with its keys, not an empty "
     "map\n",
     {0}},
    {"empty_model",
     DATA "model: []\n" LOSS,
     "t.yaml:2:8: error: 'model' must have at least one layer\n",
     {0}},
    {"nothing",
     "seed: 1\n",
     "t.yaml: error: the key 'data' is missing: where the rows are\n"
     "t.yaml: error: the key 'model' is missing: a list of layers\n"
     "t.yaml: error: the key 'loss' is missing: what is made small\n",
     {0}},
    {"root_list",
     "[1]\n",
     "t.yaml:1:1: error: a config must be a map with the keys data, model, loss ..., not a list\n",
     {0}},
    {"no_train",
     "data: {type: idx}\n"
     "model: [{linear: {units: 3}}]\n" LOSS,
     "t.yaml:1:7: error: 'data' needs the key 'train'\n",
     {0}},
    {"no_type",
     "data: {train: {inputs: a}}\n"
     "model: [{linear: {units: 3}}]\n" LOSS,
     "t.yaml:1:7: error: 'data' needs the key 'type'\n"
     "t.yaml:1:7: note: type: format of the data: see the readers below\n",
     {0}},
    {"bad_type",
     "data: {type: cvs, train: {inputs: a}}\n"
     "model: [{linear: {units: 3}}]\n" LOSS,
     "t.yaml:1:14: error: unknown data type 'cvs' in 'data.type'\n"
     "t.yaml:1:14: note: did you mean 'csv'?\n",
     {0}},
    {"reader_key",
     "data: {type: idx, train: {inputs: a, label: b}}\n"
     "model: [{linear: {units: 3}}]\n" LOSS,
     "t.yaml:1:38: error: unknown key 'label' in 'data.train'\n",
     {0}},
    {"hold_and_val",
     "data: {type: idx, hold_out: 0.1, train: {inputs: a}, validation: {inputs: b}}\n"
     "model: [{linear: {units: 3}}]\n" LOSS,
     "t.yaml:1:29: error: 'data.hold_out' and 'data.validation' both give the validation rows: "
     "leave one out\n"
     "t.yaml:1:66: note: the other one is here\n",
     {0}},
    {"normalize_by",
     "data: {type: idx, normalize_by: all, train: {inputs: a}}\n"
     "model: [{linear: {units: 3}}]\n" LOSS,
     "t.yaml:1:33: error: 'data.normalize_by' has no effect without 'data.normalize'\n",
     {0}},
    {"hold_out_1",
     "data: {type: idx, hold_out: 1, divide: 0, train: {inputs: a}}\n"
     "model: [{linear: {units: 3}}]\n" LOSS,
     "t.yaml:1:29: error: 'data.hold_out' must be at least 0 and below 1, not '1'\n"
     "t.yaml:1:40: error: 'data.divide' must be above 0, not '0'\n",
     {0}},
    {"ls_static_growth",
     BASE "loss_scale: {type: static, scale: 8, growth: 2}\n",
     "t.yaml:4:46: error: 'loss_scale.growth' has no effect with type static\n",
     {0}},
    {"ls_static_none",
     BASE "loss_scale: static\n",
     "t.yaml:4:13: error: 'loss_scale' needs the key 'scale' with type static\n",
     {0}},
    {"ls_none_scale",
     BASE "loss_scale: {type: none, scale: 8}\n",
     "t.yaml:4:33: error: 'loss_scale.scale' has no effect with type none\n",
     {0}},
    {"ls_off_init",
     BASE "loss_scale: {type: off, init: 8}\n",
     "t.yaml:4:31: error: 'loss_scale.init' has no effect with type none\n",
     {0}},
    {"ls_dyn_scale",
     BASE "loss_scale: {type: dynamic, scale: 8}\n",
     "t.yaml:4:36: error: 'loss_scale.scale' has no effect with type dynamic\n",
     {0}},
    {"ls_minmax",
     BASE "loss_scale: {min: 8, max: 4}\n",
     "t.yaml:4:19: error: 'loss_scale.min' 8 is above 'loss_scale.max' 4\n",
     {0}},
    {"ls_init",
     BASE "loss_scale: {init: 0.5}\n",
     "t.yaml:4:20: error: 'loss_scale.init' 0.5 must be from 'loss_scale.min' 1 to "
     "'loss_scale.max' 16777216\n",
     {0}},
    {"ls_min",
     BASE "loss_scale: {min: 131072}\n",
     "t.yaml:4:19: error: 'loss_scale.init' 65536 must be from 'loss_scale.min' 131072 to "
     "'loss_scale.max' 16777216\n",
     {0}},
    {"ls_ranges",
     BASE "loss_scale: {growth: 1, backoff: 1, max: 1e39, interval: 0, min: 0}\n",
     "t.yaml:4:22: error: 'loss_scale.growth' must be above 1 and at most 65536, not '1'\n"
     "t.yaml:4:34: error: 'loss_scale.backoff' must be above 0 and below 1, not '1'\n"
     "t.yaml:4:42: error: 'loss_scale.max' must be above 0 and at most 8.507059173023462e+37, not "
     "'1e39'\n"
     "t.yaml:4:58: error: 'loss_scale.interval' must be at least 1, not '0'\n"
     "t.yaml:4:66: error: 'loss_scale.min' must be above 0 and at most 8.507059173023462e+37, not "
     "'0'\n",
     {0}},
    {"ls_no",
     BASE "loss_scale: no\n",
     "t.yaml:4:13: error: 'loss_scale.type' must be auto, none, static or dynamic, not 'no'\n",
     {0}},
    {"ls_neg",
     BASE "loss_scale: -4\n",
     "t.yaml:4:13: error: 'loss_scale.scale' must be above 0 and at most 8.507059173023462e+37, "
     "not '-4'\n",
     {0}},
    {"opt_unknown",
     BASE "optimizer: {type: adamm, lr: x, betas: 3}\n",
     "t.yaml:4:19: error: unknown optimizer 'adamm' in 'optimizer.type'\n"
     "t.yaml:4:19: note: did you mean 'adam'?\n"
     "t.yaml:4:30: error: 'optimizer.lr' must be a number, not 'x'\n",
     {0}},
    {"opt_own",
     BASE "optimizer: {type: adamw, momentum: 0.9}\n",
     "t.yaml:4:26: error: unknown key 'momentum' in 'optimizer'\n",
     {0}},
    {"opt_decay",
     BASE "optimizer: {type: sgd, decay: matrices}\n",
     "t.yaml:4:31: error: 'optimizer.decay' has no effect with weight_decay 0\n",
     {0}},
    {"sch_gamma",
     BASE "schedule: {type: cosine, gamma: 0.1}\n",
     "t.yaml:4:33: error: 'schedule.gamma' has no effect with type cosine; it belongs to step\n",
     {0}},
    {"sch_at",
     BASE "schedule: {at: [3]}\n",
     "t.yaml:4:16: error: 'schedule.at' has no effect with type constant; it belongs to step\n",
     {0}},
    {"sch_total",
     BASE "schedule: {type: constant, total: 3}\n",
     "t.yaml:4:35: error: 'schedule.total' has no effect with type constant; it belongs to linear "
     "and cosine\n",
     {0}},
    {"sch_step",
     BASE "schedule: step\n",
     "t.yaml:4:11: error: 'schedule.at' is needed with type step: the updates after which lr is "
     "multiplied by gamma, for example [1000, 2000]\n",
     {0}},
    {"both",
     BASE "train:\n"
          "  epochs: 3\n"
          "  steps: 4\n",
     "t.yaml:6:10: error: 'train.steps' and 'train.epochs' exclude each other\n"
     "t.yaml:5:11: note: the other one is here\n",
     {0}},
    {"every",
     BASE "train: {eval: {every_steps: 5, every_epochs: 1}}\n"
          "checkpoint: {every_steps: 5, every_epochs: 2}\n",
     "t.yaml:4:46: error: 'train.eval.every_epochs' and 'train.eval.every_steps' exclude each "
     "other\n"
     "t.yaml:4:29: note: the other one is here\n"
     "t.yaml:5:44: error: 'checkpoint.every_epochs' and 'checkpoint.every_steps' exclude each "
     "other\n"
     "t.yaml:5:27: note: the other one is here\n",
     {0}},
    {"split",
     BASE "train: {eval: {split: validation}}\n",
     "t.yaml:4:23: error: there are no validation rows: give 'data.validation' or "
     "'data.hold_out'\n",
     {0}},
    {"split2",
     BASE "train: {eval: {split: test}}\n",
     "t.yaml:4:23: error: there are no test rows: give 'data.test'\n",
     {0}},
    {"metric",
     DATA MODEL "loss: mse\n"
                "train: {eval: {metric: accuracy}}\n",
     "t.yaml:4:24: error: the loss 'mse' knows no accuracy\n",
     {0}},
    {"patience",
     BASE "train: {eval: {patience: 2, every_epochs: 0}}\n",
     "t.yaml:4:26: error: 'train.eval.patience' has no effect without evaluations: set every_steps "
     "or every_epochs\n",
     {0}},
    {"unlisted",
     BASE "precision: {unlisted: fp32}\n",
     "t.yaml:4:13: error: unknown key 'unlisted' in 'precision'\n",
     {0}},
    {"prec_list",
     BASE "precision: {fp16: [linear], bf16: {alow: x}, fp32: {deny: [[x]]}}\n",
     "t.yaml:4:19: error: 'precision.fp16' must be a map of keys, not a list\n"
     "t.yaml:4:36: error: unknown key 'alow' in 'precision.bf16'\n"
     "t.yaml:4:36: note: did you mean 'allow'?\n"
     "t.yaml:4:60: error: an item of 'precision.fp32.deny' must be an op, a layer or a glob, not a "
     "list\n",
     {0}},
    {"many",
     DATA "model: [{repeat: {times: 100000, layers: [relu, relu]}}]\n" LOSS,
     "t.yaml:2:42: error: more than 100000 layers, with repeats written out\n",
     {0}},
    {"repeat_bad",
     DATA "model:\n"
          "  - repeat: {layers: [relu]}\n"
          "  - repeat: {times: 2}\n"
          "  - repeat: [relu]\n"
          "  - residual\n"
          "  - residual: []\n"
          "  - repeat: {times: 0, layers: relu}\n" LOSS,
     "t.yaml:3:5: error: 'model.repeat1' needs the key 'times'\n"
     "t.yaml:3:5: note: times: how many copies, one after the other\n"
     "t.yaml:4:5: error: 'model.repeat2' needs a list of layers with at least one\n"
     "t.yaml:5:5: error: 'model.repeat3' needs a list of layers with at least one\n"
     "t.yaml:5:13: error: 'model.repeat3' must be a map of keys, not a list\n"
     "t.yaml:6:5: error: 'model.residual1' needs a list of layers with at least one\n"
     "t.yaml:7:15: error: 'model.residual2' needs a list of layers with at least one\n"
     "t.yaml:8:21: error: 'model.repeat4.times' must be from 1 to 100000, not '0'\n"
     "t.yaml:8:32: error: 'model.repeat4' needs a list of layers with at least one\n",
     {0}},
    {"set_unknown",
     BASE,
     "--set optimizer.lrr=3: error: unknown key 'lrr' in 'optimizer'\n"
     "--set optimizer.lrr=3: note: did you mean 'lr'?\n",
     {"optimizer.lrr=3"}},
    {"set_range",
     BASE,
     "--set optimizer.lr=-3: error: 'optimizer.lr' must be above 0, not '-3'\n"
     "--set train.steps=x: error: 'train.steps' must be a whole number, not 'x'\n",
     {"optimizer.lr=-3", "train.steps=x"}},
    {"set_form",
     BASE,
     "--set optimizer.lr: error: --set takes KEY=VALUE, as in optimizer.lr=3e-4\n"
     "--set =3: error: --set takes KEY=VALUE, as in optimizer.lr=3e-4\n"
     "--set .a=1: error: --set takes KEY=VALUE, as in optimizer.lr=3e-4\n"
     "--set a..b=1: error: --set takes KEY=VALUE, as in optimizer.lr=3e-4\n",
     {"optimizer.lr", "=3", ".a=1", "a..b=1"}},
    {"set_twice",
     BASE,
     "--set optimizer.lr=2: error: the key is set twice, also by 'optimizer.lr=1'\n",
     {"optimizer.lr=1", "optimizer.lr=2"}},
    {"set_layer",
     BASE,
     "--set model.linaer1.units=1: error: unknown layer name 'linaer1' in 'model'\n"
     "--set model.linaer1.units=1: note: did you mean 'linear1'?\n"
     "--set model.linear1=relu: error: the layer 'linear1' can only be changed key by key: "
     "model.linear1.KEY=VALUE\n"
     "--set model.linear1.unit=4: error: unknown key 'unit' in 'model.linear1'\n"
     "--set model.linear1.unit=4: note: did you mean 'units'?\n",
     {"model.linaer1.units=1", "model.linear1=relu", "model.linear1.unit=4"}},
    {"set_into",
     BASE,
     "--set data.type.y=2: error: 'type' is a single value: there is no key 'y' in it\n"
     "--set seed.x=1: error: 'seed' must be a whole number, not a map\n",
     {"seed.x=1", "data.type.y=2"}},
    {"set_yaml",
     BASE,
     "--set optimizer.lr=[1: error: did not find expected ',' or ']' while parsing a flow "
     "sequence\n"
     "--set optimizer.lr=[1: note: it began here\n",
     {"optimizer.lr=[1"}},
    {"set_and_file",
     BASE "optimizer: {lr: x}\n",
     "--set train.batch=0: error: 'train.batch' must be from 1 to 2147483647, not '0'\n"
     "t.yaml:4:17: error: 'optimizer.lr' must be a number, not 'x'\n",
     {"train.batch=0"}},
};

static enum rc load(const char *text, const char *const *sets, int n_sets, struct str *messages)
{
    static struct diag diag;
    struct spec spec;
    diag_init(&diag);
    enum rc rc = config_load_text(&spec, text, strlen(text), "t.yaml", ".", sets, n_sets, &diag);
    for (int i = 0; i < diag.n_items; i++)
        if (!strstr(diag.items[i].text, ": note: known here: "))
            str_printf(messages, "%s\n", diag.items[i].text);
    if (rc == RC_OK)
        spec_release(&spec);
    ck_assert_int_eq(rc, diag.rc);
    return rc;
}

START_TEST(refusal)
{
    struct str messages;
    int n_sets = 0;
    str_init(&messages);
    while (n_sets < 4 && cases[_i].sets[n_sets])
        n_sets++;
    enum rc rc = load(cases[_i].text, cases[_i].sets, n_sets, &messages);
    ck_assert_msg(rc != RC_OK, "%s was accepted", cases[_i].name);
    ck_assert_msg(strcmp(messages.text, cases[_i].expected) == 0, "%s:\n%s", cases[_i].name,
                  messages.text);
    bool only_sets = strncmp(messages.text, "--set ", 6) == 0 && !strstr(messages.text, "t.yaml");
    ck_assert_int_eq(rc, only_sets ? RC_USAGE : RC_CONFIG);
    str_release(&messages);
}
END_TEST

/* More than 20 problems: the first 20 are told, the rest counted. */
START_TEST(many_problems)
{
    static struct diag diag;
    struct spec spec;
    struct str text;
    str_init(&text);
    str_puts(&text, BASE);
    for (int i = 0; i < 30; i++)
        str_printf(&text, "zz%d: 1\n", i);
    diag_init(&diag);
    ck_assert_int_eq(config_load_text(&spec, text.text, text.length, "t.yaml", ".", NULL, 0, &diag),
                     RC_CONFIG);
    ck_assert_int_eq(diag.n_errors, 30);
    ck_assert_int_eq(diag.n_dropped, 10);
    ck_assert_str_eq(diag.items[0].text, "t.yaml:4:1: error: unknown key 'zz0'");
    str_release(&text);
}
END_TEST

START_TEST(limits)
{
    struct str text, messages;
    str_init(&text);
    str_init(&messages);
    str_puts(&text, DATA "model:\n");
    for (int i = 0; i < 17; i++)
        str_printf(&text, "%*s- residual:\n", 2 + 2 * i, "");
    str_printf(&text, "%*s- relu\n" LOSS, 36, "");
    ck_assert_int_eq(load(text.text, NULL, 0, &messages), RC_CONFIG);
    ck_assert_str_eq(messages.text, "t.yaml:19:35: error: blocks nested deeper than 16 levels\n");
    str_clear(&messages);
    ck_assert_int_eq(
        load(DATA "model:\n  - linear: {units: 3, name: a.b}\n"
                  "  - linear: {units: 3, name: "
                  "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx}\n" LOSS,
             NULL, 0, &messages),
        RC_CONFIG);
    ck_assert_str_eq(
        messages.text,
        "t.yaml:3:30: error: the name 'a.b' must hold only letters, digits, _ and -\n"
        "t.yaml:4:30: error: the name 'xxxxxxxxxxxxxxxxxxxx...' is longer than 64 bytes\n");
    str_release(&text);
    str_release(&messages);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("spec_refusals");
    TCase *tests = tcase_create("all");
    tcase_add_loop_test(tests, refusal, 0, (int)COUNT_OF(cases));
    tcase_add_test(tests, many_problems);
    tcase_add_test(tests, limits);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
