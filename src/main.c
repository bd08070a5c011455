/* main.c: the program. Finds the command and runs it (cmd/cmd.c); nothing else.
 *
 * From here: cmd/cmd_train.c -> plan/plan.c -> train/step.c -> op/op_linear.c. */
#include "config.h"

#include "cmd/cmd.h"

int main(int argc, char **argv)
{
    return cmd_main(argc, argv);
}
