cp "${srcdir:?}/tests/fuzz/corpus/checkpoint/deflated" a.mpt
mptrain checkpoint show -c a.mpt
