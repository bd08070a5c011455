mptrain
