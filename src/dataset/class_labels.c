/* class_labels.c: see class_labels.h. */
#include "config.h"

#include "dataset/class_labels.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 64, TEXT_MAX = 256 };

static uint32_t hash(const char *text)
{
    uint32_t h = 2166136261u; /* FNV-1a */
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 16777619u;
    return h;
}

/* The slot that holds the text, or the empty one where it would go. */
static int *find(const struct class_labels *l, const char *text)
{
    unsigned mask = (unsigned)l->n_slots - 1;
    for (unsigned i = hash(text) & mask;; i = (i + 1) & mask)
        if (l->slots[i] == 0 || strcmp(l->texts[l->slots[i] - 1], text) == 0)
            return &l->slots[i];
}

/* Room for one more text, the table at most half full. */
static enum rc make_room(struct class_labels *l, struct diag *d)
{
    if (l->n < l->room)
        return RC_OK;
    int room = l->room ? l->room * 2 : FIRST_ROOM;
    l->texts = pool_grow(l->pool, l->texts, (size_t)l->n, (size_t)room, sizeof(*l->texts));
    l->slots = pool_array(l->pool, (size_t)room * 2, sizeof(*l->slots));
    TRY_ALLOC(l->texts && l->slots ? l : NULL, d);
    l->room = room;
    l->n_slots = room * 2;
    for (int i = 0; i < l->n; i++)
        *find(l, l->texts[i]) = i + 1;
    return RC_OK;
}

static enum rc add_text(struct class_labels *l, const char *text, int64_t *out, struct diag *d)
{
    TRY(make_room(l, d));
    int *slot = find(l, text);
    if (*slot == 0) {
        l->texts[l->n] = pool_strdup(l->pool, text);
        TRY_ALLOC(l->texts[l->n], d);
        *slot = ++l->n;
    }
    *out = *slot - 1;
    return RC_OK;
}

enum rc class_labels_init(struct class_labels *l, struct pool *pool, int n_known,
                          const char *const *known, struct diag *d)
{
    memset(l, 0, sizeof(*l));
    l->pool = pool;
    int64_t number;
    for (int i = 0; i < n_known; i++)
        TRY(add_text(l, known[i], &number, d));
    l->fixed = n_known > 0;
    l->kind = l->fixed ? CLASS_LABELS_TEXTS : CLASS_LABELS_UNKNOWN;
    return RC_OK;
}

static const char *next_known(const void *context, int i)
{
    const struct class_labels *l = context;
    return i < l->n ? l->texts[i] : NULL;
}

static void report_unknown(const struct class_labels *l, const char *text, struct loc loc,
                           struct diag *d)
{
    diag_error(d, RC_DATA, loc, "label \"%.40s\" is not one of the %d of the training set", text,
               l->n);
    const char *nearest = str_nearest(text, next_known, l);
    if (nearest)
        diag_note(d, loc, "did you mean \"%s\"?", nearest);
}

static bool is_label_text(const char *text, struct loc loc, struct diag *d)
{
    size_t length = strlen(text);
    if (length > TEXT_MAX)
        diag_error(d, RC_DATA, loc, "a label of %zu bytes; at most %d", length, TEXT_MAX);
    else if (!str_is_utf8(text, length) || strstr(text, "\xEF\xBB\xBF"))
        diag_error(d, RC_DATA, loc, "a label that is not plain UTF-8 text");
    else
        return true;
    return false;
}

static enum rc add_to_texts(struct class_labels *l, const char *text, struct loc loc, int64_t *out,
                            struct diag *d)
{
    double number;
    if (!is_label_text(text, loc, d))
        return RC_OK;
    if (!l->fixed && str_to_float(text, &number)) {
        diag_error(d, RC_DATA, loc,
                   "label %s is a number, but the label in line %d is text: a mix is not allowed",
                   text, l->first_line);
        return RC_OK;
    }
    if (l->fixed && (l->n == 0 || *find(l, text) == 0)) {
        report_unknown(l, text, loc, d);
        return RC_OK;
    }
    return add_text(l, text, out, d);
}

enum rc class_labels_add(struct class_labels *l, const char *text, struct loc loc, int64_t *out,
                         struct diag *d)
{
    double number;
    *out = 0;
    if (!*text) {
        diag_error(d, RC_DATA, loc, "the label is missing");
        return RC_OK;
    }
    if (l->kind == CLASS_LABELS_UNKNOWN) {
        l->kind = str_to_float(text, &number) ? CLASS_LABELS_NUMBERS : CLASS_LABELS_TEXTS;
        l->first_line = loc.line;
    }
    if (l->kind == CLASS_LABELS_TEXTS)
        return add_to_texts(l, text, loc, out, d);
    if (!str_to_int(text, out)) {
        *out = 0;
        diag_error(d, RC_DATA, loc,
                   "class label \"%.40s\" is not a plain integer; labels are the numbers 0, 1, 2 "
                   "and so on, or all text",
                   text);
    }
    return RC_OK;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

enum rc class_labels_finish(struct class_labels *l, struct dataset *ds, struct diag *d)
{
    if (l->kind != CLASS_LABELS_TEXTS)
        return RC_OK;
    ds->class_names = l->texts;
    ds->n_class_names = l->n;
    if (l->fixed)
        return RC_OK;
    const char **sorted = pool_grow(l->pool, l->texts, (size_t)l->n, (size_t)l->n, sizeof(*sorted));
    int *number = pool_array(l->pool, (size_t)l->n, sizeof(*number));
    TRY_ALLOC(sorted && number ? l : NULL, d);
    qsort(sorted, (size_t)l->n, sizeof(*sorted), compare);
    for (int i = 0; i < l->n; i++)
        number[*find(l, sorted[i]) - 1] = i;
    for (int64_t row = 0; row < ds->rows; row++)
        ds->classes[row] = number[ds->classes[row]];
    ds->class_names = sorted;
    return RC_OK;
}
