mptrain lits ops
