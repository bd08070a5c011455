/* window.c: see window.h. */
#include "config.h"

#include "op/window.h"

#include "base/str.h"

#include <string.h>

/* One direction while it is worked out. */
struct span {
    int64_t size, out, kernel, stride, dilation, before, after;
};

static enum rc one_or_two(const struct key_list *list, const char *key, const struct node *n,
                          int64_t out[2], struct diag *d)
{
    const int64_t *at = list->at;
    if (list->n != 1 && list->n != 2)
        return diag_error(d, RC_CONFIG, n->loc, "%s '%s': '%s' takes one or two numbers, not %d",
                          n->op->name, n->name, key, list->n);
    out[0] = at[0];
    out[1] = at[list->n - 1];
    return RC_OK;
}

static bool is_word(const struct key_list *padding, const char *word)
{
    return padding->n == 1 && strcmp(((const char *const *)padding->at)[0], word) == 0;
}

/* Of top, left, bottom, right; -1 each where it is same. */
static enum rc read_padding(const struct key_list *padding, const struct node *n, int64_t pad[4],
                            struct diag *d)
{
    const char *const *words = padding->at;
    if (is_word(padding, "same") || is_word(padding, "valid")) {
        for (int i = 0; i < 4; i++)
            pad[i] = is_word(padding, "same") ? -1 : 0;
        return RC_OK;
    }
    bool good = padding->n == 1 || padding->n == 2 || padding->n == 4;
    for (int i = 0; good && i < 4; i++)
        good = str_to_int(words[i % padding->n], &pad[i]) && pad[i] >= 0 && pad[i] <= 1 << 15;
    return good ? RC_OK
                : diag_error(d, RC_CONFIG, n->loc,
                             "%s '%s': 'padding' is same, valid, or 1, 2 or 4 whole numbers from "
                             "0 to 32768",
                             n->op->name, n->name);
}

static enum rc read_spans(const struct window_attrs *a, const struct node *n,
                          const struct tensor *t, struct span s[2], struct diag *d)
{
    int64_t kernel[2], stride[2], dilation[2] = {1, 1}, pad[4];
    char shape[TENSOR_SHAPE_ROOM];
    if (t->rank != 4)
        return diag_error(d, RC_CONFIG, n->loc,
                          "%s '%s': it needs images (B,H,W,C); its input '%s' is %s", n->op->name,
                          n->name, t->name, tensor_shape(shape, t));
    TRY(one_or_two(&a->kernel, "kernel", n, kernel, d));
    memcpy(stride, kernel, sizeof(stride));
    if (a->stride.n > 0)
        TRY(one_or_two(&a->stride, "stride", n, stride, d));
    if (a->dilation.n > 0)
        TRY(one_or_two(&a->dilation, "dilation", n, dilation, d));
    TRY(read_padding(&a->padding, n, pad, d));
    for (int i = 0; i < 2; i++)
        s[i] = (struct span){.kernel = kernel[i],
                             .stride = stride[i],
                             .dilation = dilation[i],
                             .before = pad[i],
                             .after = pad[i + 2]};
    return RC_OK;
}

/* Pixels from the first that a window reads to the last. */
static int64_t reach(const struct span *s)
{
    return (s->kernel - 1) * s->dilation + 1;
}

/* Splits the zeros of "same" once size and out are known. */
static void pad_same(struct span *s)
{
    int64_t wanted = (s->out - 1) * s->stride + reach(s) - s->size;
    s->before = wanted > 0 ? wanted / 2 : 0;
    s->after = wanted > 0 ? wanted - s->before : 0;
}

static struct window window_of(const struct span s[2])
{
    return (struct window){.h = s[0].size,
                           .w = s[1].size,
                           .out_h = s[0].out,
                           .out_w = s[1].out,
                           .kernel_h = s[0].kernel,
                           .kernel_w = s[1].kernel,
                           .stride_h = s[0].stride,
                           .stride_w = s[1].stride,
                           .dilation_h = s[0].dilation,
                           .dilation_w = s[1].dilation,
                           .pad_h = s[0].before,
                           .pad_w = s[1].before};
}

enum rc window_fit(struct window *out, const struct window_attrs *a, const struct node *n,
                   const struct tensor *image, struct diag *d)
{
    struct span s[2];
    char shape[TENSOR_SHAPE_ROOM];
    TRY(read_spans(a, n, image, s, d));
    for (int i = 0; i < 2; i++) {
        s[i].size = image->dims[1 + i];
        if (s[i].before < 0) {
            s[i].out = (s[i].size + s[i].stride - 1) / s[i].stride;
            pad_same(&s[i]);
            continue;
        }
        int64_t room = s[i].size + s[i].before + s[i].after;
        if (room < reach(&s[i]))
            return diag_error(d, RC_CONFIG, n->loc,
                              "%s '%s': its window spans %lld pixels, but '%s' %s with its padding "
                              "has %lld",
                              n->op->name, n->name, (long long)reach(&s[i]), image->name,
                              tensor_shape(shape, image), (long long)room);
        s[i].out = (room - reach(&s[i])) / s[i].stride + 1;
    }
    *out = window_of(s);
    return RC_OK;
}

enum rc window_unfit(struct window *out, const struct window_attrs *a, const struct key_list *more,
                     const struct node *n, const struct tensor *map, struct diag *d)
{
    struct span s[2];
    int64_t extra[2];
    TRY(read_spans(a, n, map, s, d));
    TRY(one_or_two(more, "output_padding", n, extra, d));
    for (int i = 0; i < 2; i++) {
        s[i].out = map->dims[1 + i];
        if (extra[i] >= s[i].stride)
            return diag_error(d, RC_CONFIG, n->loc,
                              "%s '%s': 'output_padding' must be below the stride", n->op->name,
                              n->name);
        if (s[i].before < 0) {
            s[i].size = s[i].out * s[i].stride;
            pad_same(&s[i]);
            continue;
        }
        s[i].size =
            (s[i].out - 1) * s[i].stride + reach(&s[i]) - s[i].before - s[i].after + extra[i];
        if (s[i].size < 1)
            return diag_error(d, RC_CONFIG, n->loc,
                              "%s '%s': its padding leaves nothing of the output", n->op->name,
                              n->name);
    }
    *out = window_of(s);
    return RC_OK;
}

void window_columns(const struct window *w, int64_t kx, int64_t *from, int64_t *to, int64_t *at)
{
    int64_t before = w->pad_w - kx * w->dilation_w; /* window `from` begins at or behind it */
    *from = before > 0 ? (before + w->stride_w - 1) / w->stride_w : 0;
    *at = *from * w->stride_w - before;
    *to = *at < w->w ? *from + (w->w - 1 - *at) / w->stride_w + 1 : *from;
    *to = *to < w->out_w ? *to : w->out_w;
}

bool window_row(const struct window *w, int64_t oy, int64_t ky, int64_t *y)
{
    *y = oy * w->stride_h - w->pad_h + ky * w->dilation_h;
    return *y >= 0 && *y < w->h;
}
