# A full disk behind standard output is an error, not silence.
mptrain help list >/dev/full
