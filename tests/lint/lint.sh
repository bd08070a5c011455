# lint.sh: what the lint scripts share. Sourced. Each finding is a line "file:line: text"; a script
# ends with `finish`, which fails where there was one. $srcdir and $builddir come from `make check`.
# shellcheck shell=bash

srcdir=$(cd "${srcdir:-$(dirname "$0")/../..}" && pwd)
builddir=${builddir:-$PWD}
findings=0
looked_at=0

# bad TEXT...
bad()
{
    printf '%s\n' "$*"
    findings=$((findings + 1))
}

# bad_lines: each line of the input is a finding
bad_lines()
{
    local line
    while IFS= read -r line; do
        bad "$line"
    done
}

skip()
{
    printf 'skipped: %s\n' "$*"
    exit 77
}

# sources PATTERN...: files below src/, tests/ and tools/ by name, relative to $srcdir
sources()
{
    local pattern
    for pattern in "$@"; do
        (cd "$srcdir" && find src tests tools -type f -name "$pattern" 2>/dev/null)
    done | LC_ALL=C sort
}

# A script that looked at nothing would pass whatever the sources hold.
finish()
{
    if [ "$looked_at" -eq 0 ]; then
        bad "$0: found nothing to look at in $srcdir"
    fi
    printf '%s: %d looked at, %d findings\n' "$(basename "$0")" "$looked_at" "$findings"
    [ "$findings" -eq 0 ]
}
