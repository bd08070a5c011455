mptrain list ops >&-
