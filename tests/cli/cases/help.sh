mptrain help
mptrain --help | cmp - <(mptrain help)
mptrain -h | cmp - <(mptrain help)
mptrain help help | cmp - <(mptrain help)
