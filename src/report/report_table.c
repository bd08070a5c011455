/* report_table.c: the table at the head of a report. One row of `rows` is one line for any number
 * of runs. To add a line: a function that appends its text and a row. */
#include "config.h"

#include "report/report_table.h"

#include "report/report_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
    LABEL_WIDTH = 25,
    CELL_MIN = 18,
    CELL_MAX = 40,
    STARTED_WIDTH = 16,
    MOST_CAUSES = 8,
};

struct cell {
    struct str text; /* empty: nothing to say */
    double number;   /* for the difference from the first run; NaN: none */
    bool ascii;
};

static void put_count(struct cell *c, int64_t n)
{
    report_text_count(&c->text, n);
    c->number = (double)n;
}

static void put_number(struct cell *c, double x, const char *unit)
{
    str_printf(&c->text, "%.4g%s", str_plain_nan(x), unit);
    c->number = x;
}

static void result(const struct report_stats *s, struct cell *c)
{
    static const struct {
        int64_t code;
        const char *words;
    } words[] = {{0, "finished"},   {1, "failed"},          {3, "config error"},
                 {4, "data error"}, {5, "numeric failure"}, {130, "interrupted"}};
    if (!s->end) {
        str_puts(&c->text, "no end on record");
        return;
    }
    const char *found = "ended";
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (words[i].code == s->end->exit_code)
            found = words[i].words;
    str_printf(&c->text, "%s (exit %" PRId64 ")", found, s->end->exit_code);
}

static void reason(const struct report_stats *s, struct cell *c)
{
    if (s->end && s->end->reason)
        report_text_safe(&c->text, s->end->reason, c->ascii);
}

static void started(const struct report_stats *s, struct cell *c)
{
    char minute[STARTED_WIDTH + 1]; /* 2026-12-01T09:30 */
    if (s->header && s->header->started) {
        snprintf(minute, sizeof(minute), "%s", s->header->started);
        report_text_safe(&c->text, minute, c->ascii);
    }
    if (s->segments > 1)
        str_printf(&c->text, ", start %" PRId64, s->segments);
}

static void wall_time(const struct report_stats *s, struct cell *c)
{
    if (s->end && s->end->seconds > 0)
        put_number(c, s->end->seconds, " s");
}

static void parameters(const struct report_stats *s, struct cell *c)
{
    if (s->header)
        put_count(c, s->header->parameters);
}

static void compute(const struct report_stats *s, struct cell *c)
{
    str_puts(&c->text, s->compute);
}

static void machine(const struct report_stats *s, struct cell *c)
{
    if (s->header && s->header->isa)
        report_text_safe(&c->text, s->header->isa, c->ascii);
    if (s->header)
        str_printf(&c->text, "%s%" PRId64 " thread%s", c->text.length ? ", " : "",
                   s->header->threads, s->header->threads == 1 ? "" : "s");
}

static void attempted(const struct report_stats *s, struct cell *c)
{
    put_count(c, s->attempted);
}

static void applied(const struct report_stats *s, struct cell *c)
{
    put_count(c, s->applied);
}

static void skipped(const struct report_stats *s, struct cell *c)
{
    put_count(c, s->skipped);
    if (s->skipped && s->attempted)
        str_printf(&c->text, " (%.3g%%)", 100.0 * (double)s->skipped / (double)s->attempted);
    c->number = NAN; /* the percentage says more */
}

static void empty(const struct report_stats *s, struct cell *c)
{
    if (s->empty > 0)
        put_count(c, s->empty);
}

static void loss_first(const struct report_stats *s, struct cell *c)
{
    if (s->first_step)
        put_number(c, s->first_step->loss, "");
}

static void loss_last(const struct report_stats *s, struct cell *c)
{
    if (s->last_step)
        put_number(c, s->last_step->loss, "");
}

static void loss_lowest(const struct report_stats *s, struct cell *c)
{
    if (s->lowest)
        put_number(c, s->lowest->loss, "");
}

static void loss_nonfinite(const struct report_stats *s, struct cell *c)
{
    if (s->nonfinite_losses)
        put_count(c, s->nonfinite_losses);
}

static void eval_loss(const struct record *r, struct cell *c)
{
    if (r)
        put_number(c, r->loss, "");
}

static void eval_step(const struct record *r, struct cell *c)
{
    if (r)
        str_printf(&c->text, "%" PRId64, r->step);
}

static void eval_accuracy(const struct record *r, struct cell *c)
{
    if (r && r->has_accuracy)
        put_number(c, 100 * r->accuracy, "%");
}

static void best_loss(const struct report_stats *s, struct cell *c)
{
    eval_loss(s->best_eval, c);
}

static void best_step(const struct report_stats *s, struct cell *c)
{
    eval_step(s->best_eval, c);
}

static void best_accuracy(const struct report_stats *s, struct cell *c)
{
    eval_accuracy(s->best_eval, c);
}

static void last_loss(const struct report_stats *s, struct cell *c)
{
    eval_loss(s->last_eval, c);
}

static void last_step(const struct report_stats *s, struct cell *c)
{
    eval_step(s->last_eval, c);
}

static void last_accuracy(const struct report_stats *s, struct cell *c)
{
    eval_accuracy(s->last_eval, c);
}

static void scale_path(const struct report_stats *s, struct cell *c)
{
    if (s->has_scale)
        str_printf(&c->text, "%.8g to %.8g", s->scale_start, s->scale_final);
    else if (s->scale_start > 0)
        str_puts(&c->text, "none");
}

static void scale_range(const struct report_stats *s, struct cell *c)
{
    if (s->has_scale && s->scale_changes)
        str_printf(&c->text, "%.8g to %.8g", s->scale_low, s->scale_high);
}

static void scale_changes(const struct report_stats *s, struct cell *c)
{
    if (s->has_scale)
        report_text_count(&c->text, s->scale_changes);
}

static void step_time(const struct report_stats *s, struct cell *c)
{
    if (s->step_ms > 0)
        put_number(c, s->step_ms, " ms");
}

static void speed(const struct report_stats *s, struct cell *c)
{
    if (s->examples_s >= 1000 && s->examples_s < 1e15)
        report_text_count(&c->text, llround(s->examples_s));
    else if (s->examples_s > 0)
        put_number(c, s->examples_s, "");
    c->number = s->examples_s;
}

static void checkpoint(const struct report_stats *s, struct cell *c)
{
    if (s->last_checkpoint)
        str_printf(&c->text, "step %" PRId64, s->last_checkpoint->step);
}

static const struct {
    const char *label;
    void (*put)(const struct report_stats *s, struct cell *c);
} rows[] = {
    {"result", result},
    {"reason", reason},
    {"started", started},
    {"wall time", wall_time},
    {"parameters", parameters},
    {"compute", compute},
    {"machine", machine},
    {"steps attempted", attempted},
    {"updates applied", applied},
    {"steps skipped", skipped},
    {"steps without target", empty},
    {"loss, first", loss_first},
    {"loss, last", loss_last},
    {"loss, lowest", loss_lowest},
    {"losses not finite", loss_nonfinite},
    {"best evaluation, loss", best_loss},
    {"  accuracy", best_accuracy},
    {"  at step", best_step},
    {"last evaluation, loss", last_loss},
    {"  accuracy", last_accuracy},
    {"  at step", last_step},
    {"loss scale", scale_path},
    {"  range", scale_range},
    {"  changes", scale_changes},
    {"time a step, median", step_time},
    {"examples a second", speed},
    {"last checkpoint", checkpoint},
};

static void put_difference(struct cell *c, double base)
{
    if (!isfinite(base) || !isfinite(c->number) || base == 0 || c->number == base)
        return;
    double percent = 100 * (c->number - base) / fabs(base);
    if (fabs(percent) < 1000)
        str_printf(&c->text, " (%+.3g%%)", percent);
    else
        str_printf(&c->text, " (x%.3g)", c->number / base);
}

/* Makes the cell's text; false: out of memory. */
static bool cell_make(struct cell *c, size_t row, const struct report_stats *s, double base,
                      bool ascii)
{
    str_clear(&c->text);
    c->number = NAN;
    c->ascii = ascii;
    rows[row].put(s, c);
    put_difference(c, base);
    return !c->text.failed;
}

/* width 0: as long as it is */
static void put_cell(FILE *to, struct cell *c, int width, bool last)
{
    if (width > 0)
        report_text_cut(&c->text, width - 2);
    const char *text = c->text.length ? c->text.text : "-";
    int pad = last ? 0 : width - report_text_width(text);
    fprintf(to, "%s%*s", text, pad > 0 ? pad : 0, "");
}

/* One line; none where no run has anything to say. */
static bool print_row(size_t row, const struct report_stats *first, const struct report_stats *runs,
                      int n, int width, bool ascii, FILE *to)
{
    struct cell c = {.number = NAN};
    bool any = false, fine = true;
    str_init(&c.text);
    for (int i = 0; i < n && fine; i++) {
        fine = cell_make(&c, row, &runs[i], NAN, ascii);
        any = any || c.text.length > 0;
    }
    if (any)
        fprintf(to, "  %-*s", LABEL_WIDTH - 2, rows[row].label);
    fine = fine && cell_make(&c, row, first, NAN, ascii);
    double base = c.number;
    for (int i = 0; i < n && any && fine; i++) {
        fine = cell_make(&c, row, &runs[i], &runs[i] == first ? NAN : base, ascii);
        put_cell(to, &c, width, i == n - 1);
    }
    if (any)
        fputc('\n', to);
    str_release(&c.text);
    return fine;
}

static bool print_names(const struct report_stats *runs, int n, int width, bool ascii, FILE *to)
{
    struct cell c = {.number = NAN};
    str_init(&c.text);
    fprintf(to, "%-*s", LABEL_WIDTH, width > 0 ? "runs" : "run");
    for (int i = 0; i < n; i++) {
        str_clear(&c.text);
        report_text_safe(&c.text, runs[i].run->name, ascii);
        put_cell(to, &c, width, i == n - 1);
    }
    fputc('\n', to);
    bool fine = !c.text.failed;
    str_release(&c.text);
    return fine;
}

static void put_quoted(struct str *out, const char *before, const char *text, bool ascii)
{
    if (!text[0])
        return;
    str_puts(out, before);
    str_puts(out, " '");
    report_text_safe(out, text, ascii);
    str_puts(out, "'");
}

/* 6 x  backward, layer 'fc1', tensor 'd_fc1': 12 x inf at most; steps 1 to 6; loss scale ... */
static void put_cause(struct str *out, const struct report_cause *c, bool ascii)
{
    str_printf(out, "  %6" PRId64 " x  ", c->count);
    report_text_safe(out, c->where[0] ? c->where : "cause not on record", ascii);
    put_quoted(out, ", layer", c->node, ascii);
    put_quoted(out, ", tensor", c->tensor, ascii);
    str_printf(out, ": %" PRId64 " x ", c->values);
    report_text_safe(out, c->kind, ascii);
    if (c->count == 1)
        str_printf(out, "; step %" PRId64, c->first);
    else
        str_printf(out, " at most; steps %" PRId64 " to %" PRId64, c->first, c->last);
    if (c->scale_high > 1)
        str_printf(out, "; loss scale %.8g", c->scale_high);
    if (c->scale_high > 1 && c->scale_low != c->scale_high)
        str_printf(out, " to %.8g", c->scale_low);
    str_puts(out, "\n");
}

static bool print_causes(const struct report_stats *s, bool ascii, FILE *to)
{
    struct str lines;
    str_init(&lines);
    for (int i = 0; i < s->n_causes && i < MOST_CAUSES; i++)
        put_cause(&lines, &s->causes[i], ascii);
    if (s->n_causes > MOST_CAUSES)
        str_printf(&lines, "  and %d other causes\n", s->n_causes - MOST_CAUSES);
    bool fine = !lines.failed && lines.text;
    if (fine)
        fputs(lines.text, to);
    str_release(&lines);
    return fine;
}

static bool print_all_causes(const struct report_stats *runs, int n, bool ascii, FILE *to)
{
    struct str name;
    bool fine = true;
    str_init(&name);
    for (int i = 0; i < n && fine; i++) {
        if (runs[i].n_causes == 0)
            continue;
        str_clear(&name);
        report_text_safe(&name, runs[i].run->name, ascii);
        fprintf(to, "\nwhy steps were skipped%s%s\n", n > 1 ? ": " : "",
                n > 1 && name.text ? name.text : "");
        fine = !name.failed && print_causes(&runs[i], ascii, to);
    }
    str_release(&name);
    return fine;
}

enum rc report_table_print(const struct report_stats *runs, int n, int width, bool ascii, FILE *to,
                           struct diag *d)
{
    int room = width - LABEL_WIDTH, at_once = room / CELL_MIN;
    bool fine = true;
    if (at_once < 1)
        at_once = 1;
    for (int first = 0; first < n && fine; first += at_once) {
        int some = n - first < at_once ? n - first : at_once;
        int cell = n == 1 ? 0 : room / some > CELL_MAX ? CELL_MAX : room / some;
        if (first > 0)
            fputc('\n', to);
        fine = print_names(runs + first, some, cell, ascii, to);
        for (size_t row = 0; row < COUNT_OF(rows) && fine; row++)
            fine = print_row(row, runs, runs + first, some, cell, ascii, to);
    }
    fine = fine && print_all_causes(runs, n, ascii, to);
    return fine ? RC_OK : diag_no_memory(d);
}
