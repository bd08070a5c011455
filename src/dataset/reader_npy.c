/* reader_npy.c: .npy, the array format of NumPy, versions 1.0 to 3.0, plain or gzip.
 *
 * The header is a Python dict as text. It is read as data, never run; its keys may come in any
 * order, in either kind of quotes, with any blanks between. Rows are the first dimension, the rest
 * is the shape of one row as it stands. */
#include "config.h"

#include "dataset/dataset.h"

#include "dataset/reader.h"

#include <stdio.h>
#include <string.h>

static const struct key npy_keys[] = {
    {"inputs", KEY_PATH, offsetof(struct npy_attrs, inputs), NULL, 0, 0, 0, NULL,
     ".npy file of the inputs, plain or gzip: (N,...); images are (N,H,W,C)"},
    {"targets", KEY_PATH, offsetof(struct npy_attrs, targets), "", 0, 0, 0, NULL,
     ".npy file of the targets: integers (N) are classes; for values (N) or (N,C)"},
    {0},
};

enum { HEADER_MAX = 65535, WORD_ROOM = 32 };

/* Where the parser stands in the header's text. */
struct cursor {
    const char *at, *end;
};

static void skip_blanks(struct cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\n'))
        c->at++;
}

/* Steps over `what` and the blanks before it. */
static bool take(struct cursor *c, char what)
{
    skip_blanks(c);
    if (c->at == c->end || *c->at != what)
        return false;
    c->at++;
    return true;
}

static bool take_word(struct cursor *c, const char *word)
{
    size_t n = strlen(word);
    skip_blanks(c);
    if ((size_t)(c->end - c->at) < n || memcmp(c->at, word, n) != 0)
        return false;
    c->at += n;
    return true;
}

static bool take_quoted(struct cursor *c, char out[WORD_ROOM])
{
    char quote = '\'';
    if (!take(c, '\'')) {
        quote = '"';
        if (!take(c, '"'))
            return false;
    }
    size_t n = 0;
    while (c->at < c->end && *c->at != quote && n + 1 < WORD_ROOM)
        out[n++] = *c->at++;
    out[n] = '\0';
    return c->at < c->end && *c->at++ == quote;
}

static bool take_dim(struct cursor *c, int64_t *out)
{
    skip_blanks(c);
    const char *first = c->at;
    int64_t value = 0;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *c->at - '0', &value))
            return false;
    *out = value;
    bool any = c->at > first;
    if (any && c->at < c->end && *c->at == 'L') /* as Python 2 wrote it */
        c->at++;
    return any;
}

/* (3, 4), (3,), () : false also for a negative number or too many */
static bool take_shape(struct cursor *c, struct data_array *out)
{
    out->rank = 0;
    if (!take(c, '('))
        return false;
    while (!take(c, ')')) {
        if (out->rank == TENSOR_MAX_RANK || !take_dim(c, &out->dims[out->rank]))
            return false;
        out->rank++;
        if (!take(c, ',')) {
            /* (3) is a number in Python, not a shape */
            return out->rank > 1 && take(c, ')');
        }
    }
    return true;
}

static bool take_bool(struct cursor *c, bool *out)
{
    *out = take_word(c, "True");
    return *out || take_word(c, "False");
}

static bool type_of(const char *descr, struct data_array *out)
{
    static const struct {
        char text[3];
        enum data_array_type type;
    } types[] = {{"u1", DATA_ARRAY_U8},  {"b1", DATA_ARRAY_U8},  {"i1", DATA_ARRAY_I8},
                 {"u2", DATA_ARRAY_U16}, {"i2", DATA_ARRAY_I16}, {"u4", DATA_ARRAY_U32},
                 {"i4", DATA_ARRAY_I32}, {"i8", DATA_ARRAY_I64}, {"f2", DATA_ARRAY_F16},
                 {"f4", DATA_ARRAY_F32}, {"f8", DATA_ARRAY_F64}};
    if (descr[0] == '\0' || !strchr("<>|=", descr[0]))
        return false;
    bool native_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    out->big_endian = descr[0] == '>' || (descr[0] == '=' && native_big);
    for (size_t i = 0; i < COUNT_OF(types); i++)
        if (strcmp(types[i].text, descr + 1) == 0) {
            out->type = types[i].type;
            return descr[0] != '|' || descr[2] == '1'; /* '|' has no byte order */
        }
    return false;
}

enum { HAS_DESCR = 1, HAS_ORDER = 2, HAS_SHAPE = 4, HAS_ALL = 7 };

static enum rc bad_header(struct loc file, const char *what, struct diag *d)
{
    return diag_error(d, RC_DATA, file, "has a damaged .npy header: %s", what);
}

static enum rc take_item(struct cursor *c, struct data_array *out, unsigned *seen, struct loc file,
                         struct diag *d)
{
    char key[WORD_ROOM], descr[WORD_ROOM];
    if (!take_quoted(c, key) || !take(c, ':'))
        return bad_header(file, "a key in quotes and a colon are expected", d);
    unsigned bit = strcmp(key, "descr") == 0           ? HAS_DESCR
                   : strcmp(key, "fortran_order") == 0 ? HAS_ORDER
                   : strcmp(key, "shape") == 0         ? HAS_SHAPE
                                                       : 0;
    if (bit == 0 || *seen & bit)
        return bad_header(file, bit ? "a key stands there twice" : "it has an unknown key", d);
    *seen |= bit;
    if (bit == HAS_SHAPE && !take_shape(c, out))
        return diag_error(d, RC_DATA, file,
                          "its shape is none: 1 to %d dimensions, none of them negative",
                          TENSOR_MAX_RANK);
    if (bit == HAS_ORDER && !take_bool(c, &out->fortran))
        return bad_header(file, "fortran_order is neither True nor False", d);
    if (bit != HAS_DESCR)
        return RC_OK;
    if (!take_quoted(c, descr))
        return diag_error(d, RC_DATA, file, "holds records or objects; save a plain array instead");
    if (!type_of(descr, out))
        return diag_error(d, RC_DATA, file,
                          "holds elements of type '%s'; supported are f2, f4, f8, i1 to i8, u1, "
                          "u2, u4 and b1",
                          descr);
    return RC_OK;
}

static enum rc parse_header(const char *text, size_t n, struct data_array *out, struct loc file,
                            struct diag *d)
{
    struct cursor c = {text, text + n};
    unsigned seen = 0;
    if (!take(&c, '{'))
        return bad_header(file, "no { at its start", d);
    while (!take(&c, '}')) {
        TRY(take_item(&c, out, &seen, file, d));
        if (!take(&c, ',')) {
            if (!take(&c, '}'))
                return bad_header(file, "a comma or } is expected", d);
            break;
        }
    }
    skip_blanks(&c);
    if (c.at != c.end)
        return bad_header(file, "text behind its }", d);
    if (seen != HAS_ALL)
        return bad_header(file, "descr, fortran_order or shape is missing", d);
    return RC_OK;
}

static enum rc read_length(struct data_file *f, int version, size_t *out, struct diag *d)
{
    unsigned char bytes[4] = {0};
    size_t n = version == 1 ? 2 : 4, got;
    TRY(data_file_read(f, bytes, n, &got, d));
    *out =
        (size_t)bytes[0] | (size_t)bytes[1] << 8 | (size_t)bytes[2] << 16 | (size_t)bytes[3] << 24;
    struct loc file = {f->name, 0, 0};
    if (got < n)
        return bad_header(file, "it is cut off", d);
    if (*out > HEADER_MAX)
        return diag_error(d, RC_DATA, file, "asks for a .npy header of %zu bytes; at most %d", *out,
                          HEADER_MAX);
    return RC_OK;
}

static enum rc check_magic(const unsigned char *magic, size_t n, struct loc file, struct diag *d)
{
    if (n == 0)
        return diag_error(d, RC_DATA, file, "not a .npy file: it is empty");
    if (n < 8 || memcmp(magic, "\x93NUMPY", 6) != 0) {
        char hex[32] = "";
        for (size_t i = 0; i < n && i < 4; i++)
            snprintf(hex + 3 * i, sizeof(hex) - 3 * i, " %02X", magic[i]);
        return diag_error(d, RC_DATA, file,
                          "not a .npy file: it starts with%s, a .npy file with 93 4E 55 4D", hex);
    }
    if (magic[6] < 1 || magic[6] > 3 || magic[7] != 0)
        return diag_error(d, RC_DATA, file, "is .npy version %d.%d; known are 1.0, 2.0 and 3.0",
                          magic[6], magic[7]);
    return RC_OK;
}

enum rc reader_npy_header(struct data_array *out, struct data_file *f, struct diag *d)
{
    struct loc file = {f->name, 0, 0};
    unsigned char magic[8];
    size_t got, length;
    TRY(data_file_read(f, magic, sizeof(magic), &got, d));
    TRY(check_magic(magic, got, file, d));
    TRY(read_length(f, magic[6], &length, d));
    char text[HEADER_MAX];
    TRY(data_file_read(f, text, length, &got, d));
    if (got < length)
        return bad_header(file, "it is cut off", d);
    TRY(parse_header(text, length, out, file, d));
    if (out->rank == 0)
        return diag_error(d, RC_DATA, file, "holds a single number, shape (); rows are needed");
    return RC_OK;
}

static enum rc npy_open(struct dataset *out, const struct section *split,
                        const struct dataset_want *want, struct diag *d)
{
    const struct npy_attrs *attrs = split->at;
    return data_array_open(out, attrs->inputs, attrs->targets, reader_npy_header, want->target,
                           split, d);
}

static enum rc npy_open_inputs(struct dataset *out, const char *path, const struct section *split,
                               struct diag *d)
{
    return data_array_open(out, path, "", reader_npy_header, DATASET_NO_TARGET, split, d);
}

const struct reader reader_npy = {
    .name = "npy",
    .help = "NumPy arrays (.npy), plain or gzip",
    .keys = npy_keys,
    .attrs_size = sizeof(struct npy_attrs),
    .open = npy_open,
    .open_inputs = npy_open_inputs,
};
