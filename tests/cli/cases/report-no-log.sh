mkdir r
mptrain report r nowhere
