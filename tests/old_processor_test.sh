#!/usr/bin/env bash
# goblin on processors of 2010 (no AVX) and 2013 (AVX2), which qemu plays. Usage: old_processor_test.sh GOBLIN
set -euo pipefail
goblin=$1
command -v qemu-x86_64 >/dev/null || { echo "skipped: there is no qemu-x86_64 (Debian: qemu-user)"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
printf 'ann\tbob\nbob\tcat\t2\ncat\tdan\n' >edges.tsv
for user in ann bob cat dan ann; do
  printf '{"user": "%s", "contexts": [[1, 0.5, 0], [0, 1, 0.25]], "rewards": [0.5, 1]}\n' $user
done >events.jsonl
for pair in Westmere:x86-64 Haswell:x86-64-v3; do
  run() { qemu-x86_64 -cpu "${pair%:*}" "$goblin" "$@" 2>err; }
  said=$(run --version)
  echo "$pair: $said"
  [[ $said == *"(engines: ${pair#*:})" ]] || { cat err; exit 1; }
  for engine in dense sparse local; do
    run replay --graph edges.tsv --dimension 3 --engine $engine <events.jsonl >"$engine.jsonl" || { cat err; exit 1; }
    [ "$(grep -c '"arm"' "$engine.jsonl")" -eq 5 ]
  done
done
