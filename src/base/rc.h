/* rc.h: what a function that can fail returns. The words that go with it are in a struct diag.
 * The values are the program's exit codes (mptrain(1), EXIT STATUS), so main.c maps nothing. */
#ifndef RC_H
#define RC_H

enum rc {
    RC_OK = 0,
    RC_FAILED = 1,        /* the run failed: out of memory, disk full, ... */
    RC_USAGE = 2,         /* the command line is wrong */
    RC_CONFIG = 3,        /* the configuration is wrong */
    RC_DATA = 4,          /* a data file or a checkpoint is wrong */
    RC_NUMERIC = 5,       /* diverged, loss scale at its floor, too many skips */
    RC_INTERRUPTED = 130, /* stopped by a signal, checkpoint saved */
};

#define MUST_USE __attribute__((warn_unused_result))
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))

/* Hands an error up: for functions that own nothing that must be released. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        enum rc try_rc_ = (call);                                                                  \
        if (try_rc_ != RC_OK)                                                                      \
            return try_rc_;                                                                        \
    } while (0)

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#endif
