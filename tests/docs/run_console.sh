#!/usr/bin/env bash
# Runs the console blocks of a page in an empty folder: "$ " begins a command, "> " goes on with it, the other lines are
# what it prints. Numbers are compared to twelve decimals: the last bits depend on the instructions of the machine. Usage: run_console.sh PAGE FOLDER_OF_GOBLIN
set -euo pipefail
page=$(realpath "$1")
PATH=$2:$PATH
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
failures=0
commands=0
command='' expected=''

rounded() { sed -E 's/([0-9]\.[0-9]{12})[0-9]+/\1/g'; }

run() {
  [ -n "$command" ] || return 0
  commands=$((commands + 1))
  local actual
  actual=$(bash -c "$command" 2>&1) || true
  if [ "$(rounded <<<"$actual")" != "$(rounded <<<"${expected%$'\n'}")" ]; then
    printf '%s\n--- the page says\n%s--- it is\n%s\n' "$command" "$expected" "$actual"
    failures=$((failures + 1))
  fi
  command='' expected=''
}

inside=0
while IFS= read -r line; do
  case "$inside$line" in
    '0```console'*) inside=1 ;;
    '1```'*) run; inside=0 ;;
    '1$ '*) run; command=${line#'$ '} ;;
    '1> '*) command+=$'\n'${line#'> '} ;;
    1*) expected+=$line$'\n' ;;
  esac
done <"$page"
echo "$commands commands, $failures unlike the page"
[ "$commands" -gt 0 ] && [ "$failures" -eq 0 ]
