/* report_chart.c: line charts out of characters. A cell is one point in ASCII, and 2 by 4 points of
 * a Braille character otherwise.
 *
 * The steps are cut into as many equal columns as there are points across. A column shows the mean
 * of what falls into it (loss) or its whole range (loss scale, where a short dip matters), joined
 * to the column before. Where nothing falls into a column, the value before it holds on. */
#include "config.h"

#include "report/report_chart.h"

#include "report/report_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CELLS = 120, LABEL_WIDTH = 10, TALL = 9, LOW = 5 };

/* What a chart shows of a run. */
struct kind {
    const char *title;
    bool (*value)(const struct record *r, double *y);
    bool range; /* lowest and highest of a column instead of the mean */
};

struct axes {
    const struct kind *kind;
    double y_low, y_high; /* after the logarithm, where there is one */
    bool logarithm;
    int64_t x_last; /* the steps go from 1 to here */
    int cells, rows;
    int across, down; /* points a cell */
    bool ascii;
};

struct column {
    double sum, low, high, last;
    int64_t n;
    bool skipped;
};

static bool loss_of(const struct record *r, double *y)
{
    *y = r->loss;
    return r->type == RECORD_STEP && isfinite(*y);
}

static bool scale_of(const struct record *r, double *y)
{
    if (r->type != RECORD_STEP && r->type != RECORD_OVERFLOW)
        return false;
    *y = log2(r->loss_scale);
    return isfinite(*y);
}

static const struct kind loss_kind = {"loss", loss_of, false};
static const struct kind scale_kind = {"log2 of the loss scale", scale_of, true};

static double place(const struct axes *a, double y)
{
    return a->logarithm ? log10(y) : y;
}

static void fill_columns(const struct axes *a, const struct report_stats *s, struct column *columns)
{
    int n = a->cells * a->across;
    memset(columns, 0, (size_t)n * sizeof(*columns));
    for (int64_t i = 0; i < s->run->records.n; i++) {
        const struct record *r = &s->run->records.at[i];
        double y;
        if (r->step < 1 || r->step > a->x_last)
            continue;
        int at = (int)((double)(r->step - 1) / (double)a->x_last * n);
        struct column *c = &columns[at < n ? at : n - 1]; /* a step near 2^63 rounds up */
        c->skipped = c->skipped || r->type == RECORD_OVERFLOW;
        if (!a->kind->value(r, &y))
            continue;
        y = place(a, y);
        c->low = c->n ? fmin(c->low, y) : y;
        c->high = c->n ? fmax(c->high, y) : y;
        c->last = y;
        c->sum += y;
        c->n++;
    }
}

/* Point row of a value, 0 at the bottom. */
static int height(const struct axes *a, double y)
{
    double share = (y - a->y_low) / (a->y_high - a->y_low);
    share = share > 0 ? fmin(share, 1) : 0; /* a sum of huge numbers may be inf or NaN */
    return (int)(share * (a->rows * a->down - 1) + 0.5);
}

/* Bits of a Braille character (U+2800 + bits) for points counted from the bottom left. */
static const unsigned char braille[4][2] = {{0x40, 0x80}, {0x04, 0x20}, {0x02, 0x10}, {0x01, 0x08}};

static void set_point(const struct axes *a, unsigned char *canvas, int x, int y)
{
    unsigned char *cell = &canvas[(y / a->down) * a->cells + x / a->across];
    *cell |= a->ascii ? 1 : braille[y % a->down][x % a->across];
}

static void draw(const struct axes *a, const struct column *columns, unsigned char *canvas)
{
    bool any = false;
    double before = 0;
    int end = a->cells * a->across; /* the line stops with the run */
    while (end > 0 && columns[end - 1].n == 0)
        end--;
    memset(canvas, 0, (size_t)(a->cells * a->rows));
    for (int x = 0; x < end; x++) {
        const struct column *c = &columns[x];
        double mean = c->n ? c->sum / (double)c->n : before;
        double low = c->n && a->kind->range ? c->low : mean;
        double high = c->n && a->kind->range ? c->high : mean;
        if (!any && !c->n)
            continue;
        int from = height(a, any ? fmin(low, before) : low);
        int to = height(a, any ? fmax(high, before) : high);
        /* a line that only moves starts beside the point before, not on it */
        if (any && low == high && from != to)
            before < low ? from++ : to--;
        for (int y = from; y <= to; y++)
            set_point(a, canvas, x, y);
        before = c->n && a->kind->range ? c->last : mean;
        any = true;
    }
}

static void print_label(const struct axes *a, int row, FILE *to)
{
    double y = row == a->rows - 1 ? a->y_high : a->y_low;
    if (row != 0 && row != a->rows - 1)
        fprintf(to, "%*s", LABEL_WIDTH, "");
    else
        fprintf(to, "%*.4g", LABEL_WIDTH, a->logarithm ? pow(10, y) : y);
    fputs(a->ascii ? " |" : " \xE2\x94\x82", to); /* U+2502 */
}

/* The cells of one row, without the blanks behind the last point. */
static void print_cells(const struct axes *a, const unsigned char *cells, FILE *to)
{
    int n = a->cells;
    while (n > 0 && cells[n - 1] == 0)
        n--;
    for (int i = 0; i < n; i++) {
        if (a->ascii || cells[i] == 0)
            fputc(cells[i] ? '*' : ' ', to);
        else
            fprintf(to, "\xE2%c%c", 0xA0 + (cells[i] >> 6), 0x80 + (cells[i] & 0x3F));
    }
    fputc('\n', to);
}

/* Below the chart: an x under each column of cells with a skipped step. */
static void print_axis(const struct axes *a, const struct column *columns, FILE *to)
{
    fprintf(to, "%*s%s", LABEL_WIDTH, "", a->ascii ? " +" : " \xE2\x94\x94");
    for (int i = 0; i < a->cells; i++) {
        bool skipped = false;
        for (int x = 0; x < a->across; x++)
            skipped = skipped || columns[i * a->across + x].skipped;
        fputs(skipped ? "x" : a->ascii ? "-" : "\xE2\x94\x80", to);
    }
    fprintf(to, "\n%*s  step 1%*" PRId64 "\n", LABEL_WIDTH, "", a->cells - 6, a->x_last);
}

static void print_chart(const struct axes *a, const struct column *columns, unsigned char *canvas,
                        FILE *to)
{
    draw(a, columns, canvas);
    for (int row = a->rows - 1; row >= 0; row--) {
        print_label(a, row, to);
        print_cells(a, canvas + row * a->cells, to);
    }
    print_axis(a, columns, to);
}

/* Axes that hold all the runs; false: nothing to show. */
static bool find_axes(struct axes *a, const struct report_stats *runs, int n)
{
    int64_t points = 0;
    a->y_low = INFINITY;
    a->y_high = -INFINITY;
    a->x_last = 0;
    for (int k = 0; k < n; k++) {
        const struct log_records *records = &runs[k].run->records;
        for (int64_t i = 0; i < records->n; i++) {
            double y;
            if (records->at[i].step > a->x_last)
                a->x_last = records->at[i].step;
            if (!a->kind->value(&records->at[i], &y))
                continue;
            a->y_low = fmin(a->y_low, y);
            a->y_high = fmax(a->y_high, y);
            points++;
        }
    }
    if (points < 2 || a->x_last < 2)
        return false;
    a->logarithm = !a->kind->range && a->y_low > 0 && a->y_high / a->y_low > 20;
    a->y_low = place(a, a->y_low);
    a->y_high = place(a, a->y_high);
    if (!(a->y_high - a->y_low > 0)) { /* a flat line, in the middle */
        a->y_low -= 1;
        a->y_high += 1;
    }
    return isfinite(a->y_high - a->y_low);
}

static void print_kind(struct axes *a, const struct report_stats *runs, int n,
                       struct column *columns, FILE *to)
{
    unsigned char canvas[MOST_CELLS * TALL];
    struct str name;
    if (!find_axes(a, runs, n))
        return;
    bool skips = false;
    for (int i = 0; i < n; i++)
        skips = skips || runs[i].n_causes > 0;
    fprintf(to, "\n%s%s%s\n", a->kind->title, a->logarithm ? ", logarithmic" : "",
            skips ? "; x: skipped steps" : "");
    for (int i = 0; i < n; i++) {
        if (a->kind->range && !runs[i].has_scale)
            continue;
        str_init(&name);
        report_text_safe(&name, runs[i].run->name, a->ascii);
        if (n > 1)
            fprintf(to, "  %s\n", name.text ? name.text : "");
        str_release(&name);
        fill_columns(a, &runs[i], columns);
        print_chart(a, columns, canvas, to);
    }
}

enum rc report_chart_print(const struct report_stats *runs, int n, int width, bool ascii, FILE *to,
                           struct diag *d)
{
    int cells = width - LABEL_WIDTH - 3;
    bool any_scale = false;
    struct axes a = {.ascii = ascii, .across = ascii ? 1 : 2, .down = ascii ? 1 : 4};
    a.cells = cells < 20 ? 20 : cells > MOST_CELLS ? MOST_CELLS : cells;
    a.rows = n == 1 ? TALL : LOW;
    struct column *columns = malloc((size_t)(a.cells * a.across) * sizeof(*columns));
    TRY_ALLOC(columns, d);
    for (int i = 0; i < n; i++)
        any_scale = any_scale || (runs[i].has_scale && runs[i].scale_changes > 0);
    a.kind = &loss_kind;
    print_kind(&a, runs, n, columns, to);
    a.kind = &scale_kind;
    if (any_scale)
        print_kind(&a, runs, n, columns, to);
    free(columns);
    return RC_OK;
}
