mptrain list optimizers
