/* opt.c: command-line words into a command's options struct, by its records (cmd.h).
 *
 * Accepted: --name VALUE, --name=VALUE, -nVALUE, -n VALUE, letters in one word (-vq), -- (what
 * follows is no option), -h and --help for every command. Of an option given twice the last counts,
 * OPT_TEXTS keeps all. */
#include "config.h"

#include "cmd/cmd.h"

#include "base/str.h"
#include "cmd/wrap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct parser {
    const struct cmd *cmd;
    int argc, at; /* argv[at] is the next word */
    char **argv;
    void *opts;
    struct diag *d;
    enum rc rc;
    bool stray; /* an unknown option may have left its value among the words */
};

static const struct opt help_opt = {
    .name = "help", .letter = 'h', .type = OPT_FLAG, .help = "Print this help."};

/* The i-th option of a command, --help last; NULL at the end. */
static const struct opt *opt_at(const struct cmd *c, int i)
{
    int n = 0;
    for (const struct opt *o = c->opts; o && o->name; o++, n++)
        if (n == i)
            return o;
    return n == i ? &help_opt : NULL;
}

static const char *next_name(const void *context, int i)
{
    const struct opt *o = opt_at(context, i);
    return o ? o->name : NULL;
}

static const struct opt *find_name(const struct cmd *c, const char *name, size_t length)
{
    const struct opt *o;
    for (int i = 0; (o = opt_at(c, i)) != NULL; i++)
        if (strlen(o->name) == length && memcmp(o->name, name, length) == 0)
            return o;
    return NULL;
}

static const struct opt *find_letter(const struct cmd *c, char letter)
{
    const struct opt *o;
    for (int i = 0; (o = opt_at(c, i)) != NULL; i++)
        if (o->letter == letter)
            return o;
    return NULL;
}

/* Only the part of a long name that fits into a message. */
static void unknown_name(struct parser *p, const char *name, size_t length)
{
    char word[64];
    p->stray = true;
    snprintf(word, sizeof(word), "%.*s", (int)(length < sizeof(word) ? length : sizeof(word)),
             name);
    p->rc = diag_error(p->d, RC_USAGE, NOWHERE, "%s: unknown option '--%s'", p->cmd->name, word);
    const char *near = str_nearest(word, next_name, p->cmd);
    if (near)
        diag_note(p->d, NOWHERE, "did you mean '--%s'?", near);
}

static void unknown_letter(struct parser *p, char letter)
{
    p->stray = true;
    if (letter > ' ' && letter < 127)
        p->rc =
            diag_error(p->d, RC_USAGE, NOWHERE, "%s: unknown option '-%c'", p->cmd->name, letter);
    else
        p->rc = diag_error(p->d, RC_USAGE, NOWHERE, "%s: unknown option '-\\x%02x'", p->cmd->name,
                           (unsigned)(unsigned char)letter);
}

static void range_text(const struct opt *o, char *out, size_t size)
{
    if (o->min == 0 && o->max == 0)
        snprintf(out, size, "a whole number");
    else if (o->max == INT64_MAX)
        snprintf(out, size, "a whole number, %" PRId64 " or more", o->min);
    else
        snprintf(out, size, "a whole number from %" PRId64 " to %" PRId64, o->min, o->max);
}

static void set_int(struct parser *p, const struct opt *o, const char *value)
{
    int64_t n;
    bool limited = o->min != 0 || o->max != 0;
    if (!str_to_int(value, &n) || (limited && (n < o->min || n > o->max))) {
        char range[80];
        range_text(o, range, sizeof(range));
        p->rc = diag_error(p->d, RC_USAGE, NOWHERE, "%s: --%s must be %s, not '%.80s'",
                           p->cmd->name, o->name, range, value);
        return;
    }
    memcpy((char *)p->opts + o->offset, &n, sizeof(n));
}

static void add_text(struct parser *p, const struct opt *o, const char *value)
{
    struct opt_texts *texts = (struct opt_texts *)((char *)p->opts + o->offset);
    if (!texts->at) /* no option can be given more often than there are words */
        texts->at = calloc((size_t)p->argc + 1, sizeof(*texts->at));
    if (!texts->at) {
        p->rc = diag_no_memory(p->d);
        return;
    }
    texts->at[texts->n++] = value;
}

static void set(struct parser *p, const struct opt *o, const char *value)
{
    char *field = (char *)p->opts + o->offset;
    switch (o->type) {
    case OPT_FLAG:
        *(bool *)field = true;
        break;
    case OPT_INT:
        set_int(p, o, value);
        break;
    case OPT_TEXT:
    case OPT_MAYBE:
        *(const char **)field = value;
        break;
    case OPT_TEXTS:
        add_text(p, o, value);
        break;
    }
}

/* The value that stands in the next word, or NULL with an error. A word that is itself an option of
 * this command is taken for a forgotten value. */
static const char *next_value(struct parser *p, const struct opt *o)
{
    const char *word = p->at < p->argc ? p->argv[p->at] : NULL;
    if (word &&
        !(strncmp(word, "--", 2) == 0 && find_name(p->cmd, word + 2, strcspn(word + 2, "=")))) {
        p->at++;
        return word;
    }
    p->rc = diag_error(p->d, RC_USAGE, NOWHERE, "%s: --%s needs a value: --%s %s", p->cmd->name,
                       o->name, o->name, o->value);
    return NULL;
}

/* --name or --name=value. True: help was asked for. */
static bool take_long(struct parser *p, const char *name)
{
    size_t length = strcspn(name, "=");
    const char *value = name[length] == '=' ? name + length + 1 : NULL;
    const struct opt *o = find_name(p->cmd, name, length);
    if (!o) {
        unknown_name(p, name, length);
        return false;
    }
    if (o->type == OPT_FLAG && value) {
        p->rc =
            diag_error(p->d, RC_USAGE, NOWHERE, "%s: --%s takes no value", p->cmd->name, o->name);
        return false;
    }
    if (o == &help_opt)
        return true;
    if (!value && o->type == OPT_MAYBE)
        value = "";
    if (!value && o->type != OPT_FLAG && !(value = next_value(p, o)))
        return false;
    set(p, o, value);
    return false;
}

/* -abc, -n4 or -n 4. True: help was asked for. */
static bool take_letters(struct parser *p, const char *letters)
{
    for (; *letters; letters++) {
        const struct opt *o = find_letter(p->cmd, *letters);
        if (!o) {
            unknown_letter(p, *letters);
            return false;
        }
        if (o == &help_opt)
            return true;
        if (o->type == OPT_FLAG || o->type == OPT_MAYBE) {
            set(p, o, "");
            continue;
        }
        const char *value = letters[1] ? letters + 1 : next_value(p, o);
        if (value)
            set(p, o, value);
        return false;
    }
    return false;
}

static void check_words(struct parser *p, int n)
{
    const struct cmd *c = p->cmd;
    if (n < c->words_min)
        p->rc = diag_error(p->d, RC_USAGE, NOWHERE, "%s: something is missing: mptrain %s %s",
                           c->name, c->name, c->usage);
    else if (c->words_max >= 0 && n > c->words_max)
        p->rc = diag_error(p->d, RC_USAGE, NOWHERE, "%s: one word too many: '%.80s'", c->name,
                           p->argv[c->words_max]);
}

enum rc opt_parse(const struct cmd *c, int argc, char **argv, void *opts, struct cmd_args *out,
                  struct diag *d)
{
    struct parser p = {c, argc, 0, argv, opts, d, RC_OK, false};
    int n_words = 0;
    bool help = false, words_only = false;
    while (p.at < argc && !help) {
        char *word = argv[p.at++];
        if (words_only || word[0] != '-' || word[1] == '\0')
            argv[n_words++] = word; /* n_words < p.at: never overwrites a word still to come */
        else if (strcmp(word, "--") == 0)
            words_only = true;
        else if (word[1] == '-')
            help = take_long(&p, word + 2);
        else
            help = take_letters(&p, word + 1);
    }
    *out = (struct cmd_args){opts, n_words, (const char *const *)argv, help};
    if (help)
        return RC_OK;
    if (!p.stray)
        check_words(&p, n_words);
    if (p.rc == RC_USAGE)
        diag_note(d, NOWHERE, "see: mptrain %s --help", c->name);
    return p.rc;
}

void opt_release(const struct cmd *c, void *opts)
{
    for (const struct opt *o = c->opts; o && o->name; o++) {
        if (o->type != OPT_TEXTS)
            continue;
        struct opt_texts *texts = (struct opt_texts *)((char *)opts + o->offset);
        free(texts->at);
        *texts = (struct opt_texts){0, NULL};
    }
}

/* "-o, --out DIR" */
static void print_option(const struct opt *o, char *out, size_t size)
{
    char letter[8] = "    ";
    if (o->letter)
        snprintf(letter, sizeof(letter), "-%c, ", o->letter);
    if (o->type == OPT_FLAG)
        snprintf(out, size, "%s--%s", letter, o->name);
    else if (o->type == OPT_MAYBE)
        snprintf(out, size, "%s--%s[=%s]", letter, o->name, o->value);
    else
        snprintf(out, size, "%s--%s %s", letter, o->name, o->value);
}

enum { HELP_COLUMN = 26 };

void opt_help(const struct cmd *c, FILE *to)
{
    fprintf(to, "usage: mptrain %s %s\n\n", c->name, c->usage);
    wrap_print(to, c->help, 0);
    if (c->about) {
        fputc('\n', to);
        wrap_print(to, c->about, 0);
    }
    fputs("\noptions:\n", to);
    const struct opt *o;
    for (int i = 0; (o = opt_at(c, i)) != NULL; i++) {
        char left[80];
        print_option(o, left, sizeof(left));
        int length = fprintf(to, "  %s", left);
        if (length > HELP_COLUMN - 2)
            fprintf(to, "\n%*s", HELP_COLUMN, "");
        else
            fprintf(to, "%*s", HELP_COLUMN - length, "");
        wrap_print(to, o->help, HELP_COLUMN);
    }
}
