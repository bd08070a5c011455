mptrain list ops
