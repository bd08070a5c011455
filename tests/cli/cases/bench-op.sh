# Numbers are masked.
mptrain bench op relu --shape 4,6 --ms 1 --threads 1 --isa scalar |
    sed -E '1s/: .*, level/: CPU, level/; s/ +[0-9]+(\.[0-9]+)?/ #/g'
mptrain bench op bce_with_logits --shape 4,6 --ms 1 --threads 1 --dtype fp32 --isa scalar |
    sed -E '1s/: .*, level/: CPU, level/; s/ +[0-9]+(\.[0-9]+)?/ #/g'
