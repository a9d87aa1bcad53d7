#!/usr/bin/env bash
# systemd understands the unit, and goblin serve the options that the service has. Usage: unit_test.sh PACKAGING GOBLIN
set -euo pipefail
options=$("$2" serve --help)
while read -r option; do
  grep -qE -- "^  $option\b" <<<"$options" || { echo "goblin serve has no option $option"; exit 1; }
done < <(grep -hE '^(ExecStart=|#? ?GOBLIN_OPTIONS=)' "$1/goblin.service" "$1/goblin.default" | grep -oE -- '--[a-z-]+')

command -v systemd-analyze >/dev/null || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# Here the command lies elsewhere, and its manual page is not installed.
sed "s|^ExecStart=/usr/bin/goblin|ExecStart=$2|; /^Documentation=/d" "$1/goblin.service" >"$folder/goblin.service"
said=$(systemd-analyze verify "$folder/goblin.service" 2>&1 | grep goblin.service || true)
[ -z "$said" ] || { echo "$said"; exit 1; }
exposure=$(systemd-analyze security --offline=yes --no-pager "$folder/goblin.service" 2>/dev/null | sed -nE 's/.*exposure level.*: ([0-9.]+) .*/\1/p')
awk -v exposure="${exposure:-10}" 'BEGIN { exit exposure <= 2 ? 0 : 1 }' ||
  { echo "systemd rates the exposure of the service $exposure (must be at most 2)"; exit 1; }
