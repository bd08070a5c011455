mkdir r
cp "${srcdir:?}/tests/fuzz/corpus/log/plain" r/log.jsonl
COLUMNS=60 mptrain report --ascii r
