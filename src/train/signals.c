/* signals.c: see signals.h. */
#include "config.h"

#include "train/signals.h"

#include "base/rc.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t asked;

static void on_signal(int number)
{
    (void)number;
    if (asked)
        _exit(RC_INTERRUPTED);
    asked = 1;
}

void signals_catch(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    /* a write beyond a file-size limit is an error to report, not a death */
    signal(SIGXFSZ, SIG_IGN);
}

bool signals_stop(void)
{
    return asked != 0;
}
