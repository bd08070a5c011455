mkdir a b
cp "${srcdir:?}/tests/fuzz/corpus/log/plain" a/log.jsonl
cp "${srcdir:?}/tests/fuzz/corpus/log/skips" b/log.jsonl
COLUMNS=80 LC_ALL=C mptrain report a b
