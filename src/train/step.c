/* step.c: what one training step does, top to bottom in step_run:
 *
 *     next window of rows -> forward -> seed gradient = scale / valid targets -> backward
 *     -> finite check of the scaled gradients
 *     -> not finite: nothing commits, the scaler backs off, the first bad tensor is named
 *     -> else unscale -> norm -> clip -> update of masters, state and shadows -> statistics of
 *        layers (batchnorm) -> scaler, last
 *
 * Invariant: a skipped step changes the position in the data and the counters, and nothing else.
 * Nothing here allocates. */
#include "config.h"

#include "train/step.h"

#include "base/clock.h"
#include "dataset/augment.h"
#include "train/blame.h"

#include <math.h>
#include <string.h>

enum rc step_init(struct step_state *s, const struct plan *plan, const struct dataset *data,
                  const struct normalizer *normalizer, struct pool *pool, struct diag *d)
{
    const struct tensor *target = graph_tensor(&plan->graph, plan->target);
    size_t window = target->bytes * (size_t)plan->spec->train.accumulate;
    memset(s, 0, sizeof(*s));
    s->plan = plan;
    s->data = data;
    s->normalizer = normalizer;
    s->order_epoch = -1;
    s->order = pool_array(pool, (size_t)data->rows, sizeof(*s->order));
    s->targets = pool_zalloc(pool, window);
    TRY_ALLOC(s->order, d);
    TRY_ALLOC(s->targets, d);
    return params_init(&s->params, plan, pool, d);
}

/* The time since the last lap was spent on this phase. */
static void lap(struct step_state *s, enum step_phase phase)
{
    double now = clock_seconds();
    s->clock.seconds[phase] += now - s->clock.mark;
    s->clock.mark = now;
}

/* The rows of one accumulation window. */
struct window {
    const int64_t *order;
    int64_t rows, batch, micros;
    int64_t valid;      /* targets that count */
    size_t row_bytes;   /* of a target */
};

static struct window next_window(struct step_state *s)
{
    const struct train_spec *t = &s->plan->spec->train;
    const struct node *loss = &s->plan->graph.nodes[s->plan->loss];
    const struct tensor *target = graph_tensor(&s->plan->graph, s->plan->target);
    struct window w = {.batch = t->batch};
    if (s->order_epoch != s->progress.epoch) {
        dataset_order(s->data->rows, s->plan->spec->data.shuffle, (uint64_t)s->plan->spec->seed,
                      s->progress.epoch, s->order);
        s->order_epoch = s->progress.epoch;
    }
    int64_t left = s->data->rows - s->progress.position;
    w.rows = left / t->batch >= t->accumulate ? t->batch * t->accumulate : left;
    w.micros = (w.rows + w.batch - 1) / w.batch;
    w.order = s->order + s->progress.position;
    w.row_bytes = (size_t)tensor_row_elements(target) * dtype_size(target->dtype);
    dataset_gather(s->data, s->normalizer, NULL, w.order, w.rows, NULL, s->targets);
    w.valid = loss->op->count(&s->plan->graph, loss, s->targets, w.rows);
    return w;
}

/* Puts micro-batch i into the plan's input and target; returns its rows. */
static int64_t load_micro(const struct step_state *s, const struct window *w, int64_t i)
{
    const struct graph *g = &s->plan->graph;
    int64_t at = i * w->batch, n = w->rows - at < w->batch ? w->rows - at : w->batch;
    const struct augment *augment = &s->plan->spec->data.augment;
    struct augmenter augmenter = {augment, (uint64_t)s->plan->spec->seed, s->progress.epoch};
    dataset_gather(s->data, s->normalizer, augment_is_on(augment) ? &augmenter : NULL,
                   w->order + at, n, graph_tensor(g, s->plan->input)->data, NULL);
    memcpy(graph_tensor(g, s->plan->target)->data,
           (const char *)s->targets + (size_t)at * w->row_bytes, (size_t)n * w->row_bytes);
    return n;
}

static struct op_run micro_run(const struct step_state *s, const struct window *w, int64_t i,
                               struct op_loss *loss)
{
    return (struct op_run){.graph = &s->plan->graph,
                           .rows = load_micro(s, w, i),
                           .training = true,
                           .seed = (uint64_t)s->plan->spec->seed,
                           .draw = (uint64_t)(s->progress.draws + i),
                           .add_dparams = i > 0,
                           .loss_seed = s->progress.loss_scale / (double)w->valid,
                           .loss = loss,
                           .scratch = s->plan->scratch};
}

static void forward(const struct op_run *r)
{
    for (int i = 0; i < r->graph->n_nodes; i++)
        r->graph->nodes[i].op->forward(r, &r->graph->nodes[i]);
}

static void backward(const struct op_run *r)
{
    for (int i = r->graph->n_nodes - 1; i >= 0; i--)
        if (r->graph->nodes[i].has_backward)
            r->graph->nodes[i].op->backward(r, &r->graph->nodes[i]);
}

/* Statistics that layers keep change with the step, or not at all: forward works on staged copies.
 * commit: the copies become the statistics; else they start from them. */
static void stage_statistics(const struct graph *g, bool commit)
{
    for (int i = 0; i < g->n_tensors; i++) {
        const struct tensor *staged = &g->tensors[i];
        if (staged->role != ROLE_STAGED)
            continue;
        const struct tensor *kept = &g->tensors[staged->of];
        memcpy(commit ? kept->data : staged->data, commit ? staged->data : kept->data,
               (size_t)tensor_elements(kept) * sizeof(float));
    }
}

/* All micro-batches; false at the first whose loss is not finite. */
static bool run_window(struct step_state *s, const struct window *w, double *loss_sum)
{
    *loss_sum = 0;
    stage_statistics(&s->plan->graph, false);
    for (int64_t i = 0; i < w->micros; i++) {
        struct op_loss loss = {0};
        struct op_run r = micro_run(s, w, i, &loss);
        lap(s, STEP_DATA);
        forward(&r);
        lap(s, STEP_FORWARD);
        *loss_sum += loss.sum;
        if (!isfinite(*loss_sum))
            return false;
        backward(&r);
        lap(s, STEP_BACKWARD);
    }
    params_narrow(&s->params);
    return true;
}

/* Runs the window again, slowly, looking at each tensor as it is made: every input is as it was and
 * random masks are keyed, so the same value turns up. */
static void find_blame(const struct step_state *s, const struct window *w, struct step_blame *out)
{
    for (int64_t i = 0; i < w->micros; i++) {
        struct op_loss loss = {0};
        struct op_run r = micro_run(s, w, i, &loss);
        out->micro_batch = i;
        if (blame_forward(&r, s->plan, out) || blame_backward(&r, s->plan, out))
            return;
    }
    blame_unknown(out);
}

static void skip(struct step_state *s, const struct window *w, struct step_result *out)
{
    struct progress *p = &s->progress;
    out->outcome = STEP_SKIPPED;
    find_blame(s, w, &out->blame);
    lap(s, STEP_CHECK);
    p->skipped++;
    p->skips_in_a_row++;
    /* no scale cures a forward that overflows: leave it alone */
    if (!out->blame.forward)
        out->change = scaler_overflow(&s->scaler, p);
}

static void commit(struct step_state *s, const struct params_check *c, struct step_result *out)
{
    const struct spec *spec = s->plan->spec;
    struct progress *p = &s->progress;
    double clip = spec->train.clip_norm;
    out->zero_grads = c->zero;
    out->grad_norm = sqrt(c->square_sum) / out->scale;
    out->clip_factor = clip > 0 && out->grad_norm > clip ? clip / out->grad_norm : 1;
    struct optim_step step = {.lr = out->lr,
                              .grad_factor = out->clip_factor / out->scale,
                              .update = p->applied + 1};
    params_update(&s->params, &step);
    stage_statistics(&s->plan->graph, true);
    lap(s, STEP_UPDATE);
    p->applied++;
    p->skips_in_a_row = 0;
    out->outcome = STEP_APPLIED;
    out->change = scaler_clean(&s->scaler, p);
}

static void advance(struct step_state *s, const struct window *w)
{
    struct progress *p = &s->progress;
    p->step++;
    p->draws += w->micros;
    p->position += w->rows;
    if (p->position < s->data->rows)
        return;
    p->position = 0;
    p->epoch++;
}

void step_run(struct step_state *s, struct step_result *out)
{
    const struct spec *spec = s->plan->spec;
    struct progress *p = &s->progress;
    double loss_sum = 0;
    s->clock = (struct step_clock){.mark = clock_seconds()};
    struct window w = next_window(s);
    memset(out, 0, sizeof(*out));
    out->examples = w.rows;
    out->scale = p->loss_scale;
    out->clip_factor = 1;
    out->change = (struct scale_change){p->loss_scale, p->loss_scale, NULL};
    out->lr = spec->optimizer.lr *
              schedule_factor(&spec->schedule, p->applied + 1, (int64_t)s->planned);
    if (w.valid == 0) {
        p->empty++;
        out->outcome = STEP_EMPTY;
    } else if (!run_window(s, &w, &loss_sum)) {
        skip(s, &w, out);
    } else {
        struct params_check c = params_check(&s->params);
        lap(s, STEP_CHECK);
        /* below scale 1 a finite gradient may leave FP32 when it is unscaled */
        if (c.nonfinite > 0 || c.max_abs / out->scale > dtype_max(DTYPE_F32))
            skip(s, &w, out);
        else
            commit(s, &c, out);
    }
    out->loss = w.valid > 0 ? loss_sum / (double)w.valid : 0;
    if (out->outcome != STEP_EMPTY && isfinite(loss_sum)) {
        p->epoch_loss += loss_sum;
        p->epoch_count += w.valid;
    }
    advance(s, &w);
}

struct op_loss step_forward_rows(const struct plan *plan, const struct dataset *data,
                                 const struct normalizer *normalizer, const int64_t *order,
                                 int64_t n)
{
    struct op_loss loss = {0};
    struct op_run r = {.graph = &plan->graph,
                       .rows = n,
                       .seed = (uint64_t)plan->spec->seed,
                       .loss_seed = 1,
                       .loss = &loss,
                       .scratch = plan->scratch};
    dataset_gather(data, normalizer, NULL, order, n, graph_tensor(&plan->graph, plan->input)->data,
                   data->target == DATASET_NO_TARGET
                       ? NULL
                       : graph_tensor(&plan->graph, plan->target)->data);
    forward(&r);
    return loss;
}

struct op_loss step_evaluate(const struct plan *plan, const struct dataset *data,
                             const struct normalizer *normalizer, uint64_t seed, int64_t *order)
{
    struct op_loss all = {0};
    dataset_order(data->rows, false, seed, 0, order);
    for (int64_t at = 0; at < data->rows; at += plan->graph.batch) {
        int64_t n = data->rows - at < plan->graph.batch ? data->rows - at : plan->graph.batch;
        struct op_loss loss = step_forward_rows(plan, data, normalizer, order + at, n);
        all.sum += loss.sum;
        all.count += loss.count;
        all.correct += loss.correct;
    }
    return all;
}
