/* config_compare.c: which keys of two effective configs (config_write.c) differ. The text is our
 * own, one key a line, so a pass over its lines is enough; the model and the loss are left out,
 * because the plan's fingerprint answers for them. */
#include "config.h"

#include "config/spec.h"

#include <stdio.h>
#include <string.h>

enum { MAX_DEPTH = 8, MAX_NOTES = 16 };

/* A walk over the keys; after next_key() the path is "train.eval.split" and the value its text. */
struct walk {
    const char *at;
    int depth, indents[MAX_DEPTH];
    char path[128];
    size_t lengths[MAX_DEPTH]; /* of the path above each level */
    const char *value;
    int value_length;
};

static bool is_left_out(const char *path)
{
    static const char *const sections[] = {"model", "loss", "checkpoint", "log"};
    size_t n = strcspn(path, ".");
    for (size_t i = 0; i < COUNT_OF(sections); i++)
        if (strlen(sections[i]) == n && strncmp(path, sections[i], n) == 0)
            return true;
    return false;
}

/* Puts the key of this line, which stands at `indent`, behind those that it lies in. */
static void enter(struct walk *w, const char *key, int length, int indent)
{
    while (w->depth > 0 && w->indents[w->depth - 1] >= indent)
        w->depth--;
    BUG_IF(w->depth == MAX_DEPTH);
    size_t above = w->depth ? w->lengths[w->depth - 1] : 0;
    snprintf(w->path + above, sizeof(w->path) - above, "%s%.*s", above ? "." : "", length, key);
    w->indents[w->depth] = indent;
    w->lengths[w->depth++] = strlen(w->path);
}

static bool next_key(struct walk *w)
{
    while (*w->at) {
        const char *line = w->at;
        size_t n = strcspn(line, "\n"), indent = strspn(line, " ");
        const char *colon = memchr(line, ':', n);
        w->at += n + (line[n] == '\n');
        if (!colon || line[indent] == '-')
            continue;
        enter(w, line + indent, (int)(colon - line - (ptrdiff_t)indent), (int)indent);
        if (colon[1] != ' ' || is_left_out(w->path))
            continue; /* a section */
        w->value = colon + 2;
        w->value_length = (int)(line + n - w->value);
        return true;
    }
    return false;
}

/* The walk over `text` that stands at this path; false: there is none. */
static bool find(const char *text, const char *path, struct walk *w)
{
    *w = (struct walk){.at = text};
    while (next_key(w))
        if (strcmp(w->path, path) == 0)
            return true;
    return false;
}

static void tell(int n, const struct walk *was, const struct walk *is, struct loc loc,
                 struct diag *d)
{
    static const char unset[] = "not set";
    if (n == 0)
        diag_warning(d, loc, "the config is not the one it was saved with");
    if (n < MAX_NOTES)
        diag_note(d, loc, "%s was %.*s, is %.*s", was ? was->path : is->path,
                  was ? was->value_length : (int)strlen(unset), was ? was->value : unset,
                  is ? is->value_length : (int)strlen(unset), is ? is->value : unset);
    if (n == MAX_NOTES)
        diag_note(d, loc, "and more");
}

void config_compare(const char *before, const char *now, struct loc loc, struct diag *d)
{
    struct walk was, is = {.at = now};
    int n = 0;
    while (next_key(&is))
        if (!find(before, is.path, &was))
            tell(n++, NULL, &is, loc, d);
        else if (was.value_length != is.value_length ||
                 strncmp(was.value, is.value, (size_t)is.value_length) != 0)
            tell(n++, &was, &is, loc, d);
    was = (struct walk){.at = before};
    while (next_key(&was))
        if (!find(now, was.path, &is))
            tell(n++, &was, NULL, loc, d);
}
