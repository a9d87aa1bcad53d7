#!/usr/bin/env bash
# A page names every option that a subcommand has and goblin replay, whose options stand in a page of their own, has not;
# and no other. Usage: check_options.sh PAGE GOBLIN SUBCOMMAND
set -euo pipefail
options() { "$1" "$2" --help | grep -oE -- '^  (-h,)?--[a-z-]+' | tr -d ' ' | sort -u; }
own=$(comm -23 <(options "$2" "$3") <(options "$2" replay))
[ "$(wc -l <<<"$own")" -gt 1 ]
failures=0
for option in $own; do
  grep -qE -- "$option([^a-z-]|$)" "$1" || { echo "$1: $option is missing"; failures=$((failures + 1)); }
done
while read -r option; do
  grep -qxF -- "$option" < <(options "$2" "$3") || { echo "$1: goblin $3 has no $option"; failures=$((failures + 1)); }
done < <(grep -E '^\|' "$1" | grep -oE -- '`--[a-z-]+' | tr -d '`' | sort -u)
[ "$failures" -eq 0 ]
