#!/usr/bin/env bash
# A manual page names every option and subcommand that the command's help has, in words that can be read.
# Usage: manual_test.sh PAGE GOBLIN [SUBCOMMAND]
set -euo pipefail
page=$1
help=$("${@:2}" --help)
failures=0
fail() {
  echo "$(basename "$page"): $1"
  failures=$((failures + 1))
}

# What a reader sees. Without mandoc, the source without its marks will do.
if command -v mandoc >/dev/null; then
  mandoc -T lint -W warning "$page" | grep -v 'missing date' && fail "mandoc complains"
  text=$(mandoc -T utf8 -O width=1000 "$page" | sed 's/.\x08//g')
else
  text=$(sed 's/\\f[BIR]//g; s/\\-/-/g; s/\\&//g' "$page")
fi
names=$(grep -oE '^  (--?[a-z][^ ]*|[a-z]+  )' <<<"$help" | tr ',' '\n' | tr -d ' ')
[ "$(wc -l <<<"$names")" -gt 1 ] || fail "the help has no options"
for name in $names; do grep -qE -- "(^|[ ,])$name( |,|$)" <<<"$text" || fail "$name is missing"; done
! grep -q '@[A-Z]*@' "$page" || fail "a part of the template is left"
# Descriptions came along, the last one too.
last=$(grep -E '^  --?[a-z]' <<<"$help" | tail -n 1 | sed -E 's/^  -[^ ]+( [^ ]+)*  +//')
grep -qF -- "$last" <<<"$text" || fail "'$last' is missing"
[ "$failures" -eq 0 ]
