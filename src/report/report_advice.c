/* report_advice.c: sentences for clear cases. Each row of `pieces` looks for one case and appends a
 * line about it, or nothing. To add one: a function and a row. */
#include "config.h"

#include "report/report_advice.h"

#include "report/report_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void no_end(const struct report_stats *s, struct str *out, bool ascii)
{
    (void)ascii;
    if (!s->end)
        str_puts(out, "the log has no end: the run is still going, or it was killed; "
                      "mptrain train CONFIG --resume goes on from the newest checkpoint\n");
}

static void nothing_applied(const struct report_stats *s, struct str *out, bool ascii)
{
    (void)ascii;
    if (s->attempted > 0 && s->applied == 0)
        str_puts(out, "no update was applied: the weights are those of the start\n");
}

static bool is_forward(const struct report_cause *c)
{
    return strncmp(c->where, "forward", 7) == 0;
}

/* A value of the forward pass does not know the loss scale. */
static void forward(const struct report_stats *s, struct str *out, bool ascii)
{
    for (int i = 0; i < s->n_causes; i++) {
        const struct report_cause *c = &s->causes[i];
        if (!is_forward(c))
            continue;
        str_puts(out, "layer '");
        report_text_safe(out, c->node, ascii);
        if (!s->may_use_fp16) {
            str_puts(out, "' is not finite in the forward pass, although its type has the range of "
                          "fp32: the run diverges or the data hold such values; lower optimizer.lr "
                          "or set train.clip_norm\n");
            return;
        }
        str_puts(out, "' overflows fp16 in the forward pass, which no loss scale can cure: run it "
                      "in bf16 or fp32 (precision: {fp32: {allow: [\"");
        report_text_safe(out, c->node, ascii);
        str_puts(out, "\"]}})\n");
        return;
    }
}

/* Skips until the loss scale has come down to what the model bears, and none after that. */
static void start_too_high(const struct report_stats *s, struct str *out, bool ascii)
{
    int64_t last = 0, count = 0;
    double low = INFINITY;
    (void)ascii;
    for (int i = 0; i < s->n_causes; i++) {
        const struct report_cause *c = &s->causes[i];
        if (is_forward(c))
            return;
        last = c->last > last ? c->last : last;
        low = fmin(low, c->scale_low);
        count += c->count;
    }
    if (count < 2 || last != count || s->applied == 0 || !s->has_scale || s->scale_low >= low)
        return;
    str_printf(out,
               "the first %" PRId64 " steps were skipped until the loss scale had come down to "
               "%.8g: set loss_scale.init to that\n",
               count, s->scale_low);
}

static void scale_used_up(const struct report_stats *s, struct str *out, bool ascii)
{
    (void)ascii;
    if (s->has_scale && s->scale_start > 1 && s->scale_final <= 1 && s->skipped > 0)
        str_puts(out, "the loss scale has come down to 1, so scaling is no longer of use: run the "
                      "layers named above in bf16 or fp32, or lower optimizer.lr\n");
}

/* Half of all steps or more trained some layers not at all. */
static void underflow(const struct report_stats *s, struct str *out, bool ascii)
{
    (void)ascii;
    if (s->zero_grad_steps == 0 || s->zero_grad_steps < s->applied / 2)
        return;
    str_printf(out, "up to %" PRId64 " weights and biases had a gradient of exactly 0 in %" PRId64
                    " of the steps on record, so they did not learn: ",
               s->zero_grads, s->zero_grad_steps);
    if (s->may_use_fp16 && s->scale_high <= 1)
        str_puts(out, "their gradients fall below the smallest number of fp16 (2^-24); set "
                      "loss_scale: dynamic\n");
    else if (s->may_use_fp16)
        str_puts(out, "where that is underflow in fp16, a higher loss scale cures it "
                      "(loss_scale.init)\n");
    else
        str_puts(out, "look for activations that are saturated or dead\n");
}

static void (*const pieces[])(const struct report_stats *s, struct str *out, bool ascii) = {
    no_end, nothing_applied, forward, start_too_high, scale_used_up, underflow,
};

enum rc report_advice_print(const struct report_stats *s, bool named, bool ascii, FILE *to,
                            struct diag *d)
{
    struct str text, name;
    bool any = false;
    str_init(&text);
    str_init(&name);
    if (named) {
        report_text_safe(&name, s->run->name, ascii);
        str_puts(&name, ": ");
    }
    for (size_t i = 0; i < COUNT_OF(pieces); i++) {
        str_clear(&text);
        pieces[i](s, &text, ascii);
        if (!text.length)
            continue;
        fprintf(to, "%s  %s%s", any ? "" : "\nadvice\n", name.text ? name.text : "", text.text);
        any = true;
    }
    bool fine = !text.failed && !name.failed;
    str_release(&text);
    str_release(&name);
    return fine ? RC_OK : diag_no_memory(d);
}
