#!/usr/bin/env bash
# Every link of the pages to another file, or to a heading of one, leads somewhere. Usage: check_links.sh ROOT
set -euo pipefail
cd "$1"
failures=0
links=0

# A page without its blocks of code.
prose() { awk '/^```/ { code = !code } !code' "$1"; }

# The headings of a page as links name them: "What it costs, what it buys" is what-it-costs-what-it-buys.
headings() {
  prose "$1" | grep -E '^#+ ' |
    sed -E 's/^#+ //; s/\[([^]]*)\]\([^)]*\)/\1/g' | tr '[:upper:]' '[:lower:]' | sed -E 's/[^a-z0-9_ -]//g; s/ /-/g'
}

while IFS= read -r page; do
  while IFS= read -r link; do
    case "$link" in http*) continue ;; esac
    links=$((links + 1))
    file=${link%%#*}
    target=${file:+$(dirname "$page")/$file}
    target=${target:-$page}
    heading=''
    case "$link" in *'#'*) heading=${link#*#} ;; esac
    if [ ! -e "$target" ]; then
      echo "$page: $link: there is no such file"
    elif [ -n "$heading" ] && ! headings "$target" | grep -qxF -- "$heading"; then
      echo "$page: $link: there is no such heading"
    else
      continue
    fi
    failures=$((failures + 1))
  done < <(prose "$page" | grep -oE '\]\([^) ]+\)' | sed 's/^](//; s/)$//')
done < <(find README.md CONTRIBUTING.md CHANGELOG.md docs bench/results -name '*.md')
echo "$links links, $failures lead nowhere"
[ "$links" -gt 0 ] && [ "$failures" -eq 0 ]
