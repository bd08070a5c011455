mptrain --frobnicate
