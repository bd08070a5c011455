# Each mistake of the command line is exit code 2.
try()
{
    local rc=0
    "$@" || rc=$?
    echo "exit $rc"
}
try mptrain list
try mptrain list ops extra
try mptrain list ops --isa
try mptrain list --verbose=yes ops -x
try mptrain list kernels --isa avx3
