mptrain list keys linaer
