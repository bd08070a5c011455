/* key_text.c: see key_text.h. */
#include "config.h"

#include "cmd/key_text.h"

#include "config/spec.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char *const type_words[] = {
    [KEY_INT] = "integer",
    [KEY_FLOAT] = "number",
    [KEY_BOOL] = "true | false",
    [KEY_TEXT] = "text",
    [KEY_PATH] = "path",
    [KEY_CHOICE] = NULL,
    [KEY_INTS] = "list of integers",
    [KEY_FLOATS] = "list of numbers",
    [KEY_TEXTS] = "list of texts",
    [KEY_VALUE] = "section or list",
};

const char *key_text_type(const struct key *row, char out[KEY_TEXT_ROOM])
{
    if (row->type != KEY_CHOICE)
        return type_words[row->type];
    size_t at = 0;
    for (const char *p = row->choices; *p && at + 4 < KEY_TEXT_ROOM; p++) {
        if (*p == '|') {
            memcpy(out + at, " | ", 3);
            at += 3;
        } else {
            out[at++] = *p;
        }
    }
    out[at] = '\0';
    return out;
}

const char *key_text_range(const struct key *row, char out[KEY_TEXT_ROOM])
{
    char low[STR_FLOAT_ROOM], high[STR_FLOAT_ROOM];
    out[0] = '\0';
    if (row->min == 0 && row->max == 0)
        return out;
    const char *from = row->flags & KEY_ABOVE_MIN ? "above" : "at least";
    const char *to = row->flags & KEY_BELOW_MAX ? "below" : "at most";
    str_float(low, row->min);
    str_float(high, row->max);
    /* Limits that only keep arithmetic in range are no news to the reader. */
    bool has_low = row->min > -1e15, has_high = row->max < 1e15;
    if (has_low && has_high && row->flags == 0)
        snprintf(out, KEY_TEXT_ROOM, "%s to %s", low, high);
    else if (has_low && has_high)
        snprintf(out, KEY_TEXT_ROOM, "%s %s, %s %s", from, low, to, high);
    else if (has_low)
        snprintf(out, KEY_TEXT_ROOM, "%s %s", from, low);
    else if (has_high)
        snprintf(out, KEY_TEXT_ROOM, "%s %s", to, high);
    return out;
}

const char *key_text_sentence(const char *text, char out[KEY_TEXT_HELP_ROOM])
{
    size_t length = strlen(text);
    bool ended = length == 0 || strchr(".:", text[length - 1]);
    snprintf(out, KEY_TEXT_HELP_ROOM, "%s%s", text, ended ? "" : ".");
    /* A first word with a colon or a comma is a name: "step: ...", "linear, cosine: ..." */
    char behind = out[strcspn(out, " :,")];
    if (behind != ':' && behind != ',')
        out[0] = (char)toupper((unsigned char)out[0]);
    return out;
}

/* A default that the range would refuse, or NaN, means that nothing is given. */
static bool is_absent(const struct key *row)
{
    double x;
    if (row->type != KEY_INT && row->type != KEY_FLOAT)
        return row->def[0] == '\0';
    if (!str_to_float(row->def, &x) || x != x)
        return true;
    return (row->min != 0 || row->max != 0) && (x < row->min || x > row->max);
}

const char *key_text_default(const struct key *row)
{
    if (!row->def)
        return row->type == KEY_VALUE ? "" : "required";
    return is_absent(row) ? "none" : row->def;
}

static const struct key_text_table sections[] = {
    {"section", "top", "the keys at the top of a config", spec_top_keys},
    {"section", "data", "where the rows come from", spec_data_keys},
    {"section", "layer", "what every layer may have besides its own keys", spec_layer_keys},
    {"section", "residual", "the sum of a block and its input", spec_residual_keys},
    {"section", "repeat", "copies of a block, one after the other", spec_repeat_keys},
    {"section", "precision", "which layers run in which type", spec_precision_keys},
    {"section", "precision_lists", "in precision.fp32, precision.bf16 and precision.fp16",
     spec_precision_list_keys},
    {"section", "loss_scale", "the factor that keeps small gradients alive in FP16",
     spec_loss_scale_keys},
    {"section", "optimizer", "how weights change", spec_optimizer_keys},
    {"section", "schedule", "how the learning rate changes", schedule_keys},
    {"section", "augment", "random changes to training images: data.augment", augment_keys},
    {"section", "train", "how long and how to train", spec_train_keys},
    {"section", "eval", "evaluation while training: train.eval", spec_eval_keys},
    {"section", "checkpoint", "when to save", spec_checkpoint_keys},
    {"section", "log", "what to log", spec_log_keys},
};

struct key_text_table key_text_at(int i)
{
    const struct key_text_table end = {NULL, NULL, NULL, NULL};
    if (i < (int)COUNT_OF(sections))
        return sections[i];
    i -= (int)COUNT_OF(sections);
    const struct optim *optim;
    for (int k = 0; (optim = optim_at(k)) != NULL; k++)
        if (i-- == 0)
            return (struct key_text_table){"optimizer", optim->name, optim->help, optim->keys};
    const struct reader *reader;
    for (int k = 0; (reader = dataset_reader_at(k)) != NULL; k++)
        if (i-- == 0)
            return (struct key_text_table){"reader", reader->name, reader->help, reader->keys};
    const struct op *op;
    for (int k = 0; (op = op_at(k)) != NULL; k++)
        if (op->kind != OP_INTERNAL && i-- == 0)
            return (struct key_text_table){"op", op->name, op->help, op->keys};
    return end;
}
