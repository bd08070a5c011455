mptrain list datasets
