# golden.sh: sourced by the case scripts: an empty folder to work in, and python3 with golden.py.
# Not a test by itself.
set -eu
python=/usr/bin/python3
[ -x "$python" ] || { echo "skipped: no python3 to read logs and checkpoints"; exit 77; }
data=$(cd "${srcdir:-.}/data" && pwd)
PYTHONPATH=$(cd "${srcdir:-.}/tests/golden" && pwd)
PYTHONDONTWRITEBYTECODE=1
export data PYTHONPATH PYTHONDONTWRITEBYTECODE
: "${MPTRAIN:?the program under test}"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
