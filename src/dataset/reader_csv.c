/* reader_csv.c: delimited text: which columns are inputs and targets, and cells to numbers.
 *
 * csv_text cuts records into fields, class_labels numbers labels; this decides what they mean.
 * Every cell that is used must be a finite number that FP32 can hold; each one that is not is
 * reported with line and column, up to the limit of struct diag. Columns not used are not read. */
#include "config.h"

#include "dataset/dataset.h"

#include "dataset/class_labels.h"
#include "dataset/csv_text.h"
#include "dataset/reader.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct key csv_keys[] = {
    {"file", KEY_PATH, offsetof(struct csv_attrs, file), NULL, 0, 0, 0, NULL,
     "the file, plain or gzip"},
    {"header", KEY_CHOICE, offsetof(struct csv_attrs, header), "auto", 0, 0, 0, "auto|yes|no",
     "whether the first line names the columns; auto: if none of its fields is a number"},
    {"delimiter", KEY_CHOICE, offsetof(struct csv_attrs, delimiter), "auto", 0, 0, 0,
     "auto|comma|tab|semicolon|space",
     "auto: by the first line; space: runs of blanks and tabs count as one"},
    {"skip_lines", KEY_INT, offsetof(struct csv_attrs, skip_lines), "0", 0, 1000000, 0, NULL,
     "lines to pass over at the start of the file"},
    {"features", KEY_TEXTS, offsetof(struct csv_attrs, features), "[]", 0, 0, 0, NULL,
     "columns of the inputs, by name or by number from 1; []: all but the targets"},
    {"target", KEY_TEXTS, offsetof(struct csv_attrs, target), "[]", 0, 0, 0, NULL,
     "columns of the targets, by name or by number from 1; []: the last one"},
    {0},
};

enum { FIRST_ROWS = 256, FAST_DIGITS = 7 };

/* A load under way. */
struct csv_load {
    struct dataset *out;
    const struct csv_attrs *attrs;
    const struct section *split;
    bool inputs_only;
    struct csv_text text;
    int n_columns;
    const char **names; /* from the header, or NULL */
    int n_features, *features;
    int n_targets, *targets;
    int64_t room; /* rows */
    struct class_labels labels;
};

/* ---- which columns ------------------------------------------------------------------------- */

static const char *next_name(const void *context, int i)
{
    const struct csv_load *c = context;
    return c->names && i < c->n_columns ? c->names[i] : NULL;
}

static enum rc no_such_column(struct csv_load *c, const char *key, const char *what, struct diag *d)
{
    struct loc where = keys_origin(c->split, key).loc;
    diag_error(d, RC_CONFIG, where, "%s: %s has no column \"%s\" (%d columns, %s)", c->out->name,
               c->out->source, what, c->n_columns,
               c->names ? "by name or number" : "by number from 1: it has no header");
    const char *nearest = str_nearest(what, next_name, c);
    if (nearest)
        diag_note(d, where, "did you mean \"%s\"?", nearest);
    return RC_CONFIG;
}

/* A name goes before a number. *column is -1 where there is none such. */
static enum rc find_column(struct csv_load *c, const char *what, int *column, struct diag *d)
{
    int64_t number;
    *column = -1;
    for (int i = 0; c->names && i < c->n_columns; i++) {
        if (strcmp(c->names[i], what) != 0)
            continue;
        if (*column >= 0)
            return diag_error(d, RC_DATA, (struct loc){c->out->source, c->text.line, 0},
                              "two columns are called \"%s\": choose by number", what);
        *column = i;
    }
    if (*column < 0 && str_to_int(what, &number) && number >= 1 && number <= c->n_columns)
        *column = (int)number - 1;
    return RC_OK;
}

/* Columns by name or number. optional: those that are not there are left out. */
static enum rc find_columns(struct csv_load *c, const char *key, bool optional, int **columns,
                            int *n, struct diag *d)
{
    const struct key_list *list =
        strcmp(key, "target") == 0 ? &c->attrs->target : &c->attrs->features;
    const char *const *texts = list->at;
    *n = 0;
    *columns = pool_array(&c->out->pool, (size_t)list->n + 1, sizeof(**columns));
    TRY_ALLOC(*columns, d);
    for (int i = 0; i < list->n; i++) {
        int column;
        TRY(find_column(c, texts[i], &column, d));
        if (column < 0 && optional)
            continue;
        if (column < 0)
            return no_such_column(c, key, texts[i], d);
        (*columns)[(*n)++] = column;
    }
    return RC_OK;
}

/* mark[column] counts its uses: more than one is an error. */
static enum rc mark_columns(struct csv_load *c, const char *key, const int *columns, int n,
                            bool *mark, struct diag *d)
{
    for (int i = 0; i < n; i++) {
        if (mark[columns[i]])
            return diag_error(d, RC_CONFIG, keys_origin(c->split, key).loc,
                              "%s: column %d is used twice", c->out->name, columns[i] + 1);
        mark[columns[i]] = true;
    }
    return RC_OK;
}

static enum rc choose_targets(struct csv_load *c, enum dataset_target target, struct diag *d)
{
    TRY(find_columns(c, "target", c->inputs_only, &c->targets, &c->n_targets, d));
    if (target == DATASET_NO_TARGET)
        return RC_OK;
    if (c->attrs->target.n == 0)
        c->targets[c->n_targets++] = c->n_columns - 1;
    if (target == DATASET_CLASSES && c->n_targets != 1)
        return diag_error(d, RC_CONFIG, keys_origin(c->split, "target").loc,
                          "%s: `target` names %d columns; class labels are one column",
                          c->out->name, c->n_targets);
    return RC_OK;
}

static enum rc choose_columns(struct csv_load *c, enum dataset_target target, struct diag *d)
{
    struct pool *pool = &c->out->pool;
    bool *mark = pool_array(pool, (size_t)c->n_columns, sizeof(*mark));
    TRY_ALLOC(mark, d);
    TRY(choose_targets(c, target, d));
    TRY(mark_columns(c, "target", c->targets, c->n_targets, mark, d));
    TRY(find_columns(c, "features", false, &c->features, &c->n_features, d));
    TRY(mark_columns(c, "features", c->features, c->n_features, mark, d));
    if (c->attrs->features.n > 0)
        return RC_OK;
    c->features = pool_array(pool, (size_t)c->n_columns, sizeof(*c->features));
    TRY_ALLOC(c->features, d);
    for (int i = 0; i < c->n_columns; i++)
        if (!mark[i])
            c->features[c->n_features++] = i;
    if (c->n_features == 0)
        return diag_error(d, RC_DATA, (struct loc){c->out->source, c->text.line, 0},
                          "has %d columns, all of them targets: no inputs are left", c->n_columns);
    return RC_OK;
}

/* ---- cells --------------------------------------------------------------------------------- */

/* Up to seven digits with a point: both digits and power of ten are exact in FP32, so that one
 * division rounds correctly. False: take the slow way. */
static bool fast_float(const char *p, float *out)
{
    static const float powers[] = {1, 1e1f, 1e2f, 1e3f, 1e4f, 1e5f, 1e6f, 1e7f};
    bool negative = *p == '-';
    p += *p == '-' || *p == '+';
    int digits = 0, decimals = 0, mantissa = 0;
    bool point = false;
    for (; digits <= FAST_DIGITS; p++) {
        if (*p == '.' && !point) {
            point = true;
            continue;
        }
        if (*p < '0' || *p > '9')
            break;
        mantissa = mantissa * 10 + (*p - '0');
        digits++;
        decimals += point;
    }
    if (*p || digits == 0 || digits > FAST_DIGITS)
        return false;
    float x = (float)mantissa / powers[decimals];
    *out = negative ? -x : x;
    return true;
}

static const char *check_float(const char *text, float *out)
{
    double x;
    if (!*text)
        return "is missing";
    if (!str_to_float(text, &x) || strpbrk(text, "nN"))
        return "is not a number"; /* nor are .inf and .nan */
    *out = strtof(text, NULL);
    return isfinite(*out) ? NULL : "is too large: numbers are within +-3.40282347e+38 (FP32)";
}

static float read_number(struct csv_load *c, int column, struct diag *d)
{
    const struct csv_field *field = &c->text.fields[column];
    float x = 0;
    if (fast_float(field->text, &x))
        return x;
    const char *wrong = check_float(field->text, &x);
    if (!wrong)
        return x;
    struct loc loc = {c->out->source, c->text.line, field->column};
    char shown[48];
    size_t n = 0;
    for (const char *p = field->text; *p && n + 1 < sizeof(shown); p++)
        shown[n++] = *p >= ' ' && *p < 0x7F ? *p : '?'; /* whatever it is, it is no number */
    shown[n] = '\0';
    if (c->names)
        diag_error(d, RC_DATA, loc, "column %d (%.64s): \"%s\" %s", column + 1, c->names[column],
                   shown, wrong);
    else
        diag_error(d, RC_DATA, loc, "column %d: \"%s\" %s", column + 1, shown, wrong);
    return 0;
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* The array with room for n rows; where that fails the old one, and *ok is false. */
static void *resized(void *old, int64_t n, int64_t columns, size_t size, bool *ok)
{
    int64_t bytes;
    bool fits = !__builtin_mul_overflow(n, columns, &bytes) &&
                !__builtin_mul_overflow(bytes, (int64_t)size, &bytes);
    BUG_IF(fits && bytes <= 0); /* realloc would free the array */
    void *more = fits ? realloc(old, (size_t)bytes) : NULL;
    *ok = *ok && more;
    return more ? more : old;
}

static enum rc set_room(struct csv_load *c, int64_t rows, struct diag *d)
{
    struct dataset *ds = c->out;
    bool ok = true;
    ds->inputs = resized(ds->inputs, rows, ds->columns, sizeof(float), &ok);
    ds->origin = resized(ds->origin, rows, 1, sizeof(*ds->origin), &ok);
    if (ds->target == DATASET_CLASSES)
        ds->classes = resized(ds->classes, rows, 1, sizeof(*ds->classes), &ok);
    if (ds->target == DATASET_VALUES)
        ds->values = resized(ds->values, rows, ds->target_columns, sizeof(float), &ok);
    TRY_ALLOC(ok ? ds : NULL, d);
    c->room = rows;
    return RC_OK;
}

static enum rc read_row(struct csv_load *c, struct diag *d)
{
    struct dataset *ds = c->out;
    if (c->text.n_fields == 0) /* reported */
        return RC_OK;
    if (c->text.n_fields != c->n_columns) {
        diag_error(d, RC_DATA, (struct loc){ds->source, c->text.line, 0},
                   "has %d fields, the lines before it %d", c->text.n_fields, c->n_columns);
        return RC_OK;
    }
    if (ds->rows == c->room)
        TRY(set_room(c, c->room ? c->room * 2 : FIRST_ROWS, d));
    int64_t row = ds->rows++;
    ds->origin[row] = c->text.line;
    if (row == 0)
        ds->first_line = c->text.line;
    float *inputs = (float *)ds->inputs + row * ds->columns;
    for (int i = 0; i < c->n_features; i++)
        inputs[i] = read_number(c, c->features[i], d);
    if (ds->target == DATASET_CLASSES) {
        const struct csv_field *field = &c->text.fields[c->targets[0]];
        struct loc loc = {ds->source, c->text.line, field->column};
        return class_labels_add(&c->labels, field->text, loc, &ds->classes[row], d);
    }
    for (int64_t i = 0; i < ds->target_columns; i++)
        ds->values[row * ds->target_columns + i] = read_number(c, c->targets[i], d);
    return RC_OK;
}

static enum rc read_rows(struct csv_load *c, struct diag *d)
{
    for (bool got = true; got;) {
        TRY(read_row(c, d));
        if (diag_is_full(d))
            return RC_DATA;
        TRY(csv_text_next(&c->text, &got, d));
    }
    return RC_OK;
}

/* ---- the file ------------------------------------------------------------------------------ */

static bool looks_like_header(const struct csv_text *t)
{
    double x;
    for (int i = 0; i < t->n_fields; i++)
        if (!t->fields[i].text[0] || str_to_float(t->fields[i].text, &x))
            return false;
    return true;
}

static enum rc take_header(struct csv_load *c, struct diag *d)
{
    const struct csv_text *t = &c->text;
    c->names = pool_array(&c->out->pool, (size_t)t->n_fields, sizeof(*c->names));
    TRY_ALLOC(c->names, d);
    for (int i = 0; i < t->n_fields; i++) {
        const char *name = t->fields[i].text;
        if (!str_is_utf8(name, strlen(name)) || strstr(name, "\xEF\xBB\xBF"))
            return diag_error(d, RC_DATA,
                              (struct loc){c->out->source, t->line, t->fields[i].column},
                              "the name of column %d is not plain UTF-8 text", i + 1);
        c->names[i] = pool_strdup(&c->out->pool, name);
        TRY_ALLOC(c->names[i], d);
    }
    return RC_OK;
}

static enum rc next_or_empty(struct csv_load *c, struct diag *d)
{
    bool got;
    int errors = d->n_errors;
    TRY(csv_text_next(&c->text, &got, d));
    if (!got)
        return diag_error(d, RC_DATA, (struct loc){c->out->source, 0, 0}, "holds no data");
    return d->n_errors > errors ? RC_DATA : RC_OK;
}

static enum rc describe(struct csv_load *c, enum dataset_target target, struct diag *d)
{
    struct dataset *ds = c->out;
    ds->target = target;
    ds->target_columns = target == DATASET_VALUES ? c->n_targets : 0;
    ds->rank = 1;
    ds->dims[0] = ds->columns = c->n_features;
    ds->dtype = DTYPE_F32;
    if (!c->names)
        return RC_OK;
    ds->column_names = pool_array(&ds->pool, (size_t)c->n_features, sizeof(*ds->column_names));
    TRY_ALLOC(ds->column_names, d);
    for (int i = 0; i < c->n_features; i++)
        ds->column_names[i] = c->names[c->features[i]];
    return RC_OK;
}

static enum rc load(struct csv_load *c, const struct dataset_want *want, struct diag *d)
{
    struct dataset *ds = c->out;
    int errors = d->n_errors;
    enum dataset_target target = c->inputs_only ? DATASET_NO_TARGET : want->target;
    TRY(class_labels_init(&c->labels, &ds->pool, want->n_class_names, want->class_names, d));
    TRY(next_or_empty(c, d));
    int header = c->attrs->header;
    bool has_header =
        header == CSV_HEADER_AUTO ? looks_like_header(&c->text) : header == CSV_HEADER_YES;
    c->n_columns = c->text.n_fields;
    if (has_header)
        TRY(take_header(c, d));
    TRY(choose_columns(c, target, d));
    TRY(describe(c, target, d));
    if (has_header)
        TRY(next_or_empty(c, d));
    TRY(read_rows(c, d));
    if (d->n_errors > errors)
        return RC_DATA;
    TRY(class_labels_finish(&c->labels, ds, d));
    return set_room(c, ds->rows, d);
}

enum rc reader_csv_load(struct dataset *out, struct data_file *f, const struct section *split,
                        const struct dataset_want *want, bool inputs_only, struct diag *d)
{
    const struct csv_attrs *attrs = split->at;
    static const char delimiters[] = {
        [CSV_AUTO] = 0,        [CSV_COMMA] = ',', [CSV_TAB] = '\t',
        [CSV_SEMICOLON] = ';', [CSV_SPACE] = ' ',
    };
    struct csv_load c = {.out = out, .attrs = attrs, .split = split, .inputs_only = inputs_only};
    TRY(csv_text_init(&c.text, f, delimiters[attrs->delimiter], attrs->skip_lines, d));
    enum rc rc = load(&c, want, d);
    csv_text_release(&c.text);
    return rc;
}

static enum rc open_file(struct dataset *out, const char *path, const struct section *split,
                         const struct dataset_want *want, bool inputs_only, struct diag *d)
{
    struct data_file f;
    out->source = out->target_source = pool_strdup(&out->pool, path);
    TRY_ALLOC(out->source, d);
    TRY(data_file_open(&f, out->source, d));
    enum rc rc = reader_csv_load(out, &f, split, want, inputs_only, d);
    data_file_close(&f);
    return rc;
}

static enum rc csv_open(struct dataset *out, const struct section *split,
                        const struct dataset_want *want, struct diag *d)
{
    const struct csv_attrs *attrs = split->at;
    return open_file(out, attrs->file, split, want, false, d);
}

static enum rc csv_open_inputs(struct dataset *out, const char *path, const struct section *split,
                               struct diag *d)
{
    struct dataset_want want = {.target = DATASET_NO_TARGET};
    return open_file(out, path, split, &want, true, d);
}

const struct reader reader_csv = {
    .name = "csv",
    .help = "numbers as text: comma, tab, semicolon or blanks between, plain or gzip",
    .keys = csv_keys,
    .attrs_size = sizeof(struct csv_attrs),
    .open = csv_open,
    .open_inputs = csv_open_inputs,
};
