#!/usr/bin/env bash
# goblin_bench from outside, with measurements too short to mean anything: the table, the JSON and the page. Usage:
# bench_run.sh GOBLIN_BENCH
set -euo pipefail
bench=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
  echo "FAILED: $1"
  cat "$folder/out"
  exit 1
}

"$bench" --out "$folder/results" --commit abc123 --benchmark_filter='select_candidates/dense/candidates:(5|10|25)$' \
  --benchmark_min_time=0.001 >"$folder/out"
grep -q '^select_candidates/dense/candidates:10 .* [mun]*s ' "$folder/out" || fail 'no row of the table'
grep -q 'commit abc123' "$folder/out" || fail 'no commit in the output'
grep -q '"commit": "abc123"' "$folder/results/results.json" || fail 'no commit in the JSON'
grep -q '"cores": [1-9]' "$folder/results/results.json" || fail 'no cores in the JSON'
grep -A1 '"line": "dense"' "$folder/results/results.json" | grep -q '"exponent": ' || fail 'no exponent in the JSON'
grep -q '<td>select_candidates/dense/candidates:25</td>' "$folder/results/index.html" || fail 'no row in the page'
if command -v gnuplot >/dev/null; then
  grep -q '<svg role="img"' "$folder/results/index.html" || fail 'no plot in the page'
  [ -s "$folder/results/select-latency.svg" ] || fail 'no file of the plot'
fi
if grep -qE '(src|href)="?https?:' "$folder/results/index.html"; then fail 'the page needs another file'; fi

# Many rewards at once: a plot of each kind, and no table of what was not measured.
"$bench" --out "$folder/bulk" --benchmark_filter='^(bulk/.*/batch:(64|256)|warm_start/.*/rewards:1000?)(/|$)' >"$folder/out"
for engine in dense sparse local; do
  grep -q "^bulk/$engine/batch:256 .*per_second" "$folder/out" || fail "no rewards a second of $engine"
done
grep -q '^warm_start/one-by-one/rewards:1000 ' "$folder/out" || fail 'no warm start one by one'
if command -v gnuplot >/dev/null; then
  for plot in bulk warm-start; do
    [ -s "$folder/bulk/$plot.svg" ] || fail "no plot $plot"
  done
fi
if grep -q 'Deciding while others learn' "$folder/bulk/index.html"; then fail 'a table of nothing'; fi

"$bench" --benchmark_list_tests --out "$folder/none" >"$folder/out"
grep -q '^round_time/sparse/users:1000/' "$folder/out" || fail 'no list'
for family in bulk/local readers/sparse learner/dense warm_start/dense lastfm_warm_start/sparse local_round local_edit; do
  grep -q "^$family/" "$folder/out" || fail "the bare run lacks $family"
done
if grep -qE '^(cluster_communities|bulk_local|local_reward)' "$folder/out"; then fail 'the bare run has what takes minutes'; fi
[ ! -e "$folder/none" ] || fail 'a list wrote results'
