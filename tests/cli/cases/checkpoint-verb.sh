mptrain checkpoint shwo x.mpt
