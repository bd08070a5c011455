mptrain help list
mptrain list --help | cmp - <(mptrain help list)
mptrain list ops -h | cmp - <(mptrain help list)
