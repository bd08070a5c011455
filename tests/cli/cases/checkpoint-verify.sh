cp "${srcdir:?}/tests/fuzz/corpus/checkpoint/deflated" good.mpt
head -c 1300 good.mpt >short.mpt
echo hello >text.mpt
mkdir empty
mptrain checkpoint verify good.mpt short.mpt text.mpt empty none.mpt
