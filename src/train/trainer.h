/* trainer.h: what the files of train/ share about a run that is going on. */
#ifndef TRAINER_H
#define TRAINER_H

#include "log/log_file.h"
#include "train/run_data.h"
#include "train/step.h"
#include "train/train.h"

struct trainer {
    const struct spec *spec;
    const struct train_options *options;
    struct pool pool;
    struct run_data data;
    struct plan plan;
    bool has_plan;
    struct step_state step;
    struct log_file log;
    const char *folder, *log_path, *checkpoints;
    int64_t *eval_order;
    int64_t total_steps;   /* of the whole run */
    int64_t steps_per_epoch;
    int64_t last_saved;    /* step of the newest checkpoint; -1: none yet */
    int64_t saved_applied; /* updates in it */
    int64_t resumed_from;
    double started;        /* clock_seconds() */
    bool live;             /* standard output is a terminal */
};

/* ---- run_folder.c ---- */
MUST_USE enum rc run_folder_make(struct trainer *t, struct diag *d);
MUST_USE enum rc run_folder_resume(struct trainer *t, struct diag *d);
/* Writes config.yaml: once it is sure that the run starts, so a refused one leaves the old one. */
MUST_USE enum rc run_folder_config(const struct trainer *t, struct diag *d);

/* ---- run_log.c ---- */
MUST_USE enum rc run_log_header(struct trainer *t, struct diag *d);
MUST_USE enum rc run_log_step(struct trainer *t, const struct step_result *r, double ms,
                              struct diag *d);
MUST_USE enum rc run_log_end(struct trainer *t, const char *reason, enum rc rc, struct diag *d);
/* Evaluates; true in *stop where patience is over. */
MUST_USE enum rc run_log_eval(struct trainer *t, bool *stop, struct diag *d);
MUST_USE enum rc run_log_save(struct trainer *t, const char *path, struct diag *d);
void run_log_show(struct trainer *t, const struct step_result *r, double ms);

#endif
