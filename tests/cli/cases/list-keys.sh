mptrain list keys linear
mptrain list keys schedule
