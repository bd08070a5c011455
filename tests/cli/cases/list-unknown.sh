mptrain list op
