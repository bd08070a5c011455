mptrain list kernels --isa scalar
