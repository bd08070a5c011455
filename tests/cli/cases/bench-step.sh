# Numbers are masked; the file of the log is gone, and no run folder was made.
mkdir tmp
export TMPDIR=$PWD/tmp
mptrain bench step "${srcdir:?}/bench/configs/mlp.yaml" --set train.batch=8 --set data.train.rows=16 \
    --set precision.compute=fp32 --steps 2 --warmup 1 --ms 1 --threads 1 >text
sed -E '1s/: .*, level [a-z0-9_]*/: CPU, level #/; s/ +[0-9]+(\.[0-9]+)? (%|GFLOP|GB|MB|MiB)/ # \2/g
    s/ +[0-9]+\.[0-9]+/ #/g; s/of [a-z0-9_]+:/of ROW:/; s/[0-9]+\^3/#^3/' text
mptrain bench step "${srcdir:?}/configs/digits-mlp.yaml" --steps 2 --ms 1 --threads 1 --json |
    sed -nE 's/^  "([a-z_]*)".*/\1/p' | tr '\n' ' '
echo
find . -mindepth 1 | LC_ALL=C sort
