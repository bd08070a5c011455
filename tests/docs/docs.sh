# docs.sh: what the scripts of tests/docs share. Sourced.
# shellcheck shell=bash

srcdir=$(cd "${srcdir:-$(dirname "$0")/../..}" && pwd)
builddir=$(cd "${builddir:-$srcdir/build}" && pwd)
MPTRAIN=${MPTRAIN:-$builddir/mptrain}
export LC_ALL=C
findings=0
looked_at=0

bad()
{
    printf '%s\n' "$*"
    findings=$((findings + 1))
}

skip()
{
    printf 'skipped: %s\n' "$*"
    exit 77
}

commands()
{
    "$MPTRAIN" list commands | awk '{ print $1 }'
}

# finish AT_LEAST: a script that looked at too little would pass whatever the pages hold
finish()
{
    if [ "$looked_at" -lt "$1" ]; then
        bad "$0: looked at $looked_at things only, expected $1 or more"
    fi
    printf '%s: %d looked at, %d findings\n' "$(basename "$0")" "$looked_at" "$findings"
    [ "$findings" -eq 0 ]
}
