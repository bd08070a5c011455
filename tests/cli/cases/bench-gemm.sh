# Numbers are masked: 12.5 -> #
mptrain bench gemm --m 8 --n 8 --k 8 --dtype fp16 --row ref --ms 1 --threads 1 --isa scalar |
    sed -E '1s/: .*, level/: CPU, level/; s/ +[0-9]+\.[0-9]+/ #/g'
mptrain bench gemm --m 8 --n 8 --k 8 --row amx_f16x2 --ms 1 --threads 1 --isa scalar --pack |
    sed -E '1s/: .*, level/: CPU, level/; s/ +[0-9]+\.[0-9]+/ #/g'
mptrain bench gemm --m 8 --n 9 --k 10 --row ref --dtype fp32 --isa scalar --ms 1 --threads 1 --json |
    sed -E 's/("cpu": ).*,/\1#,/; s/(gflops": )[0-9.e+-]+/\1#/'
