#!/usr/bin/env bash
# Puts the answers and tables of `goblin reproduce rivals` into docs/rivals.md, and its figures beside it.
# Usage: docs/fill_rivals.sh REPORT
set -euo pipefail
if [ ! -f "${1:-}/rivals.md" ]; then
  echo "usage: docs/fill_rivals.sh REPORT (a folder with rivals.md)" >&2
  exit 2
fi
docs=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
filled=$(mktemp)
awk -v tables="$1/rivals.md" '
  /<!-- rivals: end -->/ { inside = 0 }
  !inside
  /<!-- rivals: begin -->/ { inside = 1; while ((getline line < tables) > 0) print line }' "$docs/rivals.md" >"$filled"
grep -q '<!-- rivals: end -->' "$filled" || { echo "docs/rivals.md: the place to fill is not there" >&2; exit 1; }
mkdir -p "$docs/images/rivals"
cp "$1"/figures/rivals-*.svg "$docs/images/rivals/"
cat "$filled" >"$docs/rivals.md"
rm "$filled"
