mptrain help lst
