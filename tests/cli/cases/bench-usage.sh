# What is wrong with the words behind bench is told before anything is measured.
try()
{
    local rc=0
    "$@" || rc=$?
    echo "exit $rc"
}
try mptrain bench
try mptrain bench gem
try mptrain bench gemm extra
try mptrain bench gemm --shape 3,4 --steps 5
try mptrain bench gemm --dtype fp8
try mptrain bench gemm --row amx_bf
try mptrain bench gemm --m 0
try mptrain bench cast --row amx_bf16 --isa scalar
try mptrain bench op
try mptrain bench op linaer
try mptrain bench op cross_entropy --dtype bf16
try mptrain bench op relu --shape 4
try mptrain bench op relu --shape 4,0
try mptrain bench op relu --shape 4,4,
try mptrain bench op linear --shape 4,4 --attrs '{units: 0}'
try mptrain bench op linear --shape 4,4 --attrs '{units'
try mptrain bench step
try mptrain bench step missing.yaml
try mptrain bench step "${srcdir:?}/configs/digits-mlp.yaml" --set train.batc=3
