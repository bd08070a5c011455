mptrain --version
