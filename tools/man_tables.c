/* man_tables.c: prints a man page with its tables made anew from the program's own records.
 *
 *     man_tables PAGE
 *
 * A table stands between `.\" BEGIN WHAT [NAME]` and `.\" END`; everything else is copied. WHAT is
 * a row of `kinds` below. `make man-refresh` rewrites the pages, tests/docs/man-fresh compares. */
#include "config.h"

#include "checkpoint/checkpoint.h"
#include "cmd/cmd.h"
#include "cmd/key_text.h"
#include "log/record.h"
#include "op/op.h"
#include "optim/optim.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_WIDTH = 76 };

/* One word of running text: a backslash is doubled, a leading dot or quote hidden. */
static void put_word(const char *word, size_t length, bool first)
{
    if (first && (*word == '.' || *word == '\''))
        fputs("\\&", stdout);
    for (size_t i = 0; i < length; i++)
        fputs(word[i] == '\\' ? "\\e" : (char[]){word[i], '\0'}, stdout);
}

/* Running text: a sentence ends its line, and lines are kept short. */
static void put_text(const char *text)
{
    size_t column = 0;
    while (*text) {
        size_t length = strcspn(text, " ");
        if (column > 0 && column + 1 + length > LINE_WIDTH) {
            putchar('\n');
            column = 0;
        } else if (column > 0) {
            putchar(' ');
            column++;
        }
        put_word(text, length, column == 0);
        column += length;
        bool sentence = length > 0 && text[length - 1] == '.';
        text += length;
        text += strspn(text, " ");
        if (sentence && isupper((unsigned char)*text)) {
            putchar('\n');
            column = 0;
        }
    }
    if (column > 0)
        putchar('\n');
}

static void put_sentence(const char *text)
{
    char line[KEY_TEXT_HELP_ROOM];
    put_text(key_text_sentence(text, line));
}

static void put_option(const char *name, char letter, enum opt_type type, const char *value)
{
    if (letter)
        printf(".It Fl %c , Fl -%s", letter, name);
    else
        printf(".It Fl -%s", name);
    if (type == OPT_MAYBE)
        printf(" Ns Op = Ns Ar %s", value);
    else if (type != OPT_FLAG)
        printf(" Ar %s", value);
    putchar('\n');
}

static bool put_options(const char *name)
{
    const struct cmd *c = cmd_find(name);
    if (!c)
        return false;
    puts(".Bl -tag -width Ds");
    for (const struct opt *o = c->opts; o && o->name; o++) {
        put_option(o->name, o->letter, o->type, o->value);
        put_sentence(o->help);
    }
    put_option("help", 'h', OPT_FLAG, NULL);
    put_text("Print a summary of the command and its options.");
    puts(".El");
    return true;
}

static bool put_commands(const char *name)
{
    const struct cmd *c;
    (void)name;
    puts(".Bl -tag -width checkpoint");
    for (int i = 0; (c = cmd_at(i)) != NULL; i++) {
        printf(".It Cm %s\n", c->name);
        put_sentence(c->help);
        printf("See\n.Xr mptrain-%s 1 .\n", c->name);
    }
    puts(".It Cm help Op Ar COMMAND");
    put_text("Print the list of commands, or the options of one.");
    puts(".El");
    return true;
}

/* "Number, above 0; default 0.1." */
static void put_key_type(const struct key *row)
{
    char type[KEY_TEXT_ROOM], range[KEY_TEXT_ROOM], line[3 * KEY_TEXT_ROOM];
    const char *limits = key_text_range(row, range);
    const char *given = key_text_default(row);
    snprintf(line, sizeof(line), "%s%s%s%s%s%s%s.", row->type == KEY_CHOICE ? "One of " : "",
             key_text_type(row, type), limits[0] ? ", " : "", limits, given[0] ? "; " : "",
             row->def ? "default " : "", given);
    line[0] = (char)toupper((unsigned char)line[0]);
    put_text(line);
}

static void put_rows(const struct key *rows)
{
    if (!rows || !rows->name)
        return;
    puts(".Bl -tag -width Ds");
    for (const struct key *row = rows; row->name; row++) {
        printf(".It Ic %s\n", row->name);
        put_key_type(row);
        put_sentence(row->help);
    }
    puts(".El");
}

/* The keys of one section, or of all of a kind under a heading each. */
static bool put_keys(const char *name)
{
    struct key_text_table table;
    for (int i = 0; (table = key_text_at(i)).name != NULL; i++)
        if (strcmp(table.kind, "section") == 0 && strcmp(table.name, name) == 0) {
            put_rows(table.rows);
            return true;
        }
    return false;
}

static bool put_kind(const char *kind)
{
    struct key_text_table table;
    bool found = false;
    for (int i = 0; (table = key_text_at(i)).name != NULL; i++) {
        if (strcmp(table.kind, kind) != 0)
            continue;
        printf("%s.It Ic %s\n", found ? "" : ".Bl -tag -width Ds\n", table.name);
        put_sentence(table.help);
        put_rows(table.rows);
        found = true;
    }
    if (found)
        puts(".El");
    return found;
}

static bool put_classes(const char *name)
{
    const struct op *op;
    (void)name;
    puts(".Bl -column \"bce_with_logits\" \"layer\" \"allow\"");
    puts(".It Sy op Ta Sy kind Ta Sy class");
    for (int i = 0; (op = op_at(i)) != NULL; i++)
        if (op->kind != OP_INTERNAL)
            printf(".It %s Ta %s Ta %s\n", op->name, op->kind == OP_LOSS ? "loss" : "layer",
                   op_class_name(op->class));
    puts(".El");
    return true;
}

static const char *const field_words[] = {
    [FIELD_INT] = "Integer.",
    [FIELD_FLOAT] = "Number.",
    [FIELD_BOOL] = "Boolean.",
    [FIELD_TEXT] = "Text.",
};

static bool put_records(const char *name)
{
    (void)name;
    for (int type = 0; type < RECORD_COUNT; type++) {
        printf(".Ss %s\n", record_types[type].name);
        put_sentence(record_types[type].help);
        puts(".Bl -tag -width Ds");
        for (const struct record_field *f = record_fields; f->name; f++) {
            if (!(f->types & (1u << type)))
                continue;
            printf(".It Ic %s\n%s\n", f->name, field_words[f->type]);
            put_sentence(f->help);
        }
        puts(".El");
    }
    return true;
}

static bool put_progress(const char *name)
{
    static const char *const words[] = {
        [PROGRESS_INT] = "Integer.", [PROGRESS_FLOAT] = "Number.", [PROGRESS_BOOL] = "Boolean."};
    (void)name;
    puts(".Bl -tag -width Ds");
    for (const struct progress_field *f = progress_fields; f->name; f++) {
        printf(".It Ic %s\n%s\n", f->name, words[f->type]);
        put_sentence(f->help);
    }
    puts(".El");
    return true;
}

static const struct {
    const char *name;
    bool (*put)(const char *name);
} kinds[] = {
    {"options", put_options},                       /* of a command */
    {"commands", put_commands}, {"keys", put_keys}, /* of a section of the config */
    {"kind", put_kind},                             /* keys of each op, optimizer or reader */
    {"classes", put_classes},   {"records", put_records}, {"progress", put_progress},
};

static const char begin[] = ".\\\" BEGIN ", end[] = ".\\\" END";

/* line: behind the marker. False: no such table. */
static bool put_table(const char *line)
{
    char kind[32] = "", name[32] = "";
    size_t length = strcspn(line, " \n");
    snprintf(kind, sizeof(kind), "%.*s", (int)length, line);
    if (line[length] == ' ')
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(line + length + 1, "\n"),
                 line + length + 1);
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (strcmp(kinds[i].name, kind) == 0)
            return kinds[i].put(name);
    return false;
}

static bool refresh(FILE *page)
{
    char line[1024];
    bool inside = false;
    while (fgets(line, sizeof(line), page)) {
        if (inside && strncmp(line, end, sizeof(end) - 1) == 0)
            inside = false;
        if (!inside)
            fputs(line, stdout);
        if (strncmp(line, begin, sizeof(begin) - 1) == 0) {
            inside = true;
            if (!put_table(line + sizeof(begin) - 1)) {
                fprintf(stderr, "man_tables: no table %s", line + sizeof(begin) - 1);
                return false;
            }
        }
    }
    if (inside)
        fputs("man_tables: a table has no END\n", stderr);
    return !inside;
}

int main(int argc, char **argv)
{
    FILE *page = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (!page) {
        fputs("usage: man_tables PAGE\n", stderr);
        return RC_USAGE;
    }
    bool good = refresh(page);
    fclose(page);
    return good && fflush(stdout) == 0 ? RC_OK : RC_FAILED;
}
