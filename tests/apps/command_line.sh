#!/usr/bin/env bash
# The command line from outside: exit codes, messages, streams. Usage: command_line.sh GOBLIN
set -euo pipefail
goblin=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
failures=0

# expect CODE PATTERN ARGUMENT...: runs goblin on the events in events.jsonl; PATTERN must be in its standard error.
expect() {
  local code=$1 pattern=$2 got=0
  shift 2
  "$goblin" "$@" <events.jsonl >out 2>err || got=$?
  if [ "$got" -ne "$code" ] || ! grep -q -- "$pattern" err; then
    echo "FAILED: goblin $*: exit code $got (expected $code), standard error (expected: $pattern):"
    cat err
    failures=$((failures + 1))
  fi
}

printf 'ann\tbob\nbob\tcat\t2\n' >edges.tsv
printf 'ann\tnorth\nbob\tnorth\ncat\tsouth\n' >labels.tsv
printf 'ann\tnorth\n' >short-labels.tsv
printf 'ann\tann\n' >loop.tsv
printf '{"user": "ann", "contexts": [[1, 0], [0, 1]], "rewards": [1, 0]}\n{"user": "bob", "contexts": [[1, 0], [0, 1]]}\n' >events.jsonl
replay=(replay --graph edges.tsv --dimension 2)

for policy in linucb-sin linucb-ind gob.lin; do expect 0 'check: every decision' "${replay[@]}" --policy $policy --check; done
for policy in gob.lin.macro gob.lin.block; do
  expect 0 'check: every decision' "${replay[@]}" --policy $policy --labels labels.tsv --check
  expect 2 'labels: must be given' "${replay[@]}" --policy $policy
done
expect 0 '"decisions":2' "${replay[@]}" --json
expect 0 'sparse' "${replay[@]}" --engine sparse --tolerance 1e-10 --printed-bound 0.1 0.05 2
expect 2 'labels: must not be given' "${replay[@]}" --labels labels.tsv
expect 2 "policy: 'best'" "${replay[@]}" --policy best
expect 2 "engine: 'fast'" "${replay[@]}" --engine fast
expect 2 'alpha: -1' "${replay[@]}" --alpha -1
expect 2 'dimension' replay --graph edges.tsv
expect 2 'graph or --load' replay --dimension 2
expect 2 'not expected' "${replay[@]}" --quickly
expect 2 'not expected' nonsense
expect 3 'none.tsv: the file cannot be opened' replay --graph none.tsv --dimension 2
expect 3 'loop.tsv:1: .*self loop' replay --graph loop.tsv --dimension 2
expect 3 "short-labels.tsv: user 'bob' has no cluster" "${replay[@]}" --policy gob.lin.block --labels short-labels.tsv
expect 3 'standard input:1: contexts\[0\] has 2 numbers' replay --graph edges.tsv --dimension 3

# Ways to choose.
for rule in ucb:0.2 printed_bound:0.1:0.05:2 thompson:0.2 epsilon_greedy:0.1 greedy square_cb:10 ucb+epsilon:0.1; do
  expect 0 '2 decisions' "${replay[@]}" --explore $rule --seed 5
  cp out once
  expect 0 '2 decisions' "${replay[@]}" --explore $rule --seed 5
  cmp out once || failures=$((failures + 1))
done
expect 0 'gob.lin with thompson:0.2: 2 decisions' "${replay[@]}" --explore thompson:0.2 --save thompson.goblin
grep -q '"probability":0\..*"probability_error":' out || failures=$((failures + 1))
expect 0 '"exploration":"thompson:0.2"' replay --load thompson.goblin --json
expect 0 'gob.lin with thompson:0.2: 2 rewards' merge thompson.goblin thompson.goblin --save both.goblin
grep -q 'warning: thompson.goblin: is the same as thompson.goblin: its rewards count twice' err || failures=$((failures + 1))
expect 2 "exploration: 'best' (must be ucb:ALPHA, .* or square_cb:GAMMA" "${replay[@]}" --explore best
expect 2 "exploration: 'thompson' (must be" "${replay[@]}" --explore thompson
expect 2 'v: -1 (must be between 0 and 1e100)' "${replay[@]}" --explore thompson:-1
expect 2 'epsilon: 2 (must be between 0 and 1)' "${replay[@]}" --explore ucb:1+epsilon:2
expect 2 '--alpha excludes --explore' "${replay[@]}" --explore greedy --alpha 1
expect 2 'excludes' "${replay[@]}" --explore greedy --printed-bound 0.1 0.05 2
expect 2 'excludes' "${replay[@]}" --alpha 1 --printed-bound 0.1 0.05 2
expect 2 'excludes' replay --load thompson.goblin --explore greedy
expect 2 'check: the bandit explores with greedy (must be ucb or printed_bound' "${replay[@]}" --explore greedy --check
expect 0 'check: every decision' "${replay[@]}" --explore printed_bound:0.1:0.05:2 --check
expect 2 '--alpha excludes --explore' simulate --rounds 5 --explore greedy --alpha 1
expect 2 "exploration: 'best'" simulate --rounds 5 --explore best

# A model that is saved and loaded answers as one that went on.
expect 0 '2 decisions' "${replay[@]}" --save half.goblin
expect 0 '2 decisions' replay --load half.goblin
cp out loaded
cat events.jsonl events.jsonl >twice.jsonl
"$goblin" "${replay[@]}" <twice.jsonl 2>/dev/null | tail -n 2 | cmp - loaded || failures=$((failures + 1))
expect 2 'excludes' replay --load half.goblin --alpha 1
expect 3 'is not a goblin model file' replay --load edges.tsv
head -c 100 half.goblin >cut.goblin
expect 3 'cut.goblin: is truncated' replay --load cut.goblin
expect 1 'cannot be written' "${replay[@]}" --save no/such/folder

# A log is learned by fit as by replay, and models are merged.
printf '{"user": "ann", "context": [1, 0], "reward": 1}\n{"user": "bob", "context": [0, 1], "reward": 1}\n' >events.jsonl
fit=(fit --graph edges.tsv --dimension 2)
for policy in linucb-sin linucb-ind gob.lin; do expect 0 '2 rewards learned' "${fit[@]}" --policy $policy --events - --save fit.goblin; done
for policy in gob.lin.macro gob.lin.block; do
  expect 0 '2 rewards learned' "${fit[@]}" --policy $policy --labels labels.tsv --events events.jsonl --save fit.goblin
done
expect 0 '"learned":2' fit --load fit.goblin --events events.jsonl --save again.goblin --threads 2 --batch 1 --json
expect 0 'gob.lin.block: 6 rewards' merge fit.goblin again.goblin --save merged.goblin
expect 3 'fit.goblin: cannot be merged into half.goblin: .*policy gob.lin.block' merge half.goblin fit.goblin --save merged.goblin
expect 2 'events is required' "${fit[@]}" --save fit.goblin
expect 2 'save is required' "${fit[@]}" --events events.jsonl
expect 2 'graph or --load' fit --dimension 2 --events events.jsonl --save fit.goblin
expect 2 'excludes' fit --load fit.goblin --alpha 1 --events events.jsonl --save fit.goblin

# Lines before a bad one are answered.
printf '{"user": "ann", "contexts": [[1, 0]]}\nbad\n' >events.jsonl
expect 3 'standard input:2: is not JSON' "${replay[@]}"
[ "$(wc -l <out)" -eq 1 ] || { echo "FAILED: the line before the bad one was not answered"; failures=$((failures + 1)); }

# Help goes to standard output, with an example.
# A table that servers use stays if there is no new topic.
printf 'in use\n' >table.tsv
printf 'no.such.setting = 1\n' >kafka.properties
expect 2 'no.such.setting' topic create kafka://127.0.0.1:1/clicks --partitions 2 --graph edges.tsv --table table.tsv --kafka kafka.properties
[ "$(cat table.tsv)" = 'in use' ] || { echo 'FAILED: a topic that could not be made changed a table'; failures=$((failures + 1)); }
ls table.tsv.* 2>/dev/null && failures=$((failures + 1))

for command in fit merge replay; do
  "$goblin" $command --help >help
  grep -q 'Example:' help || { echo "FAILED: no example in $command --help"; failures=$((failures + 1)); }
done
"$goblin" --version | grep -q '^goblin [0-9]' || { echo "FAILED: --version"; failures=$((failures + 1)); }

[ $failures -eq 0 ] && echo "all as expected"
exit $((failures > 0))
