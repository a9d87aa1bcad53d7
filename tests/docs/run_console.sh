#!/usr/bin/env bash
# Runs the console blocks of a page in an empty folder, all in one shell as a reader would: "$ " begins a command, "> " goes
# on with it, the other lines are what it prints. Numbers are compared to twelve decimals: the last bits depend on the
# instructions of the machine. Members of JSON that differ from run to run (what has been learned by then, the time, a
# request's id) are not compared. Where a page says :8080 it gets a port that is free. What it leaves in the background
# ends with it. Usage: run_console.sh PAGE FOLDER_OF_GOBLIN
set -euo pipefail
page=$(realpath "$1")
PATH=$(realpath "$2"):$PATH
folder=$(mktemp -d)
printed=$(mktemp)
trap 'jobs -p | xargs -r kill -9 2>/dev/null; rm -rf "$folder" "$printed"' EXIT
cd "$folder"
failures=0
commands=0
command='' expected=''
port=$((20000 + RANDOM % 10000))
while (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do port=$((20000 + RANDOM % 10000)); done

rounded() { sed -E 's/([0-9]\.[0-9]{12})[0-9]+/\1/g; s/"(learned|time)":[0-9]+/"\1":/g; s/"instance":"[^"]*"/"instance":/g'; }
# What a command printed, without what the shell says of a job that was killed.
said() { sed -E "/^.*: line [0-9]+: +[0-9]+ (Killed|Terminated) /d; s/:$port\b/:8080/g" "$printed"; }

run() {
  [ -n "$command" ] || return 0
  commands=$((commands + 1))
  local actual
  set +eu
  eval "${command//:8080/:$port}" >"$printed" 2>&1 </dev/null
  set -eu
  actual=$(said)
  if [ "$(rounded <<<"$actual")" != "$(rounded <<<"${expected%$'\n'}")" ]; then
    printf '%s\n--- the page says\n%s--- it is\n%s\n' "$command" "$expected" "$actual"
    failures=$((failures + 1))
  fi
  command='' expected=''
}

inside=0
while IFS= read -r line <&3; do
  case "$inside$line" in
    '0```console'*) inside=1 ;;
    '1```'*) run; inside=0 ;;
    '1$ '*) run; command=${line#'$ '} ;;
    '1> '*) command+=$'\n'${line#'> '} ;;
    1*) expected+=$line$'\n' ;;
  esac
done 3<"$page"
echo "$commands commands, $failures unlike the page"
[ "$commands" -gt 0 ] && [ "$failures" -eq 0 ]
