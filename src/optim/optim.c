/* optim.c: the table of optimizers. See optim.h. To add one: optim.list. */
#include "config.h"

#include "optim/optim.h"

#include <stddef.h>
#include <string.h>

#define OPTIM(name) extern const struct optim optim_##name;
#include "optim/optim.list"
#undef OPTIM

static const struct optim *const table[] = {
#define OPTIM(name) &optim_##name,
#include "optim/optim.list"
#undef OPTIM
};

const struct optim *optim_at(int i)
{
    return i >= 0 && i < (int)COUNT_OF(table) ? table[i] : NULL;
}

const struct optim *optim_find(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(table); i++)
        if (strcmp(table[i]->name, name) == 0)
            return table[i];
    return NULL;
}

int optim_states(const struct optim *o, const void *attrs)
{
    return o->states_used ? o->states_used(attrs) : o->n_states;
}

enum rc optim_check(const struct optim *o, const struct section *s, struct diag *d)
{
    return o->check ? o->check(s, d) : RC_OK;
}
