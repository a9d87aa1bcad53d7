#!/usr/bin/env bash
# What is installed runs on any x86-64 processor: newer instructions are only in the copies of the engines that are for
# newer processors, and nothing of such a copy is visible but its entry point.
# Usage: instructions_test.sh BUILD_FOLDER COPIES (how many there are for newer processors)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cmake --install "$1" --prefix "$folder/prefix" >/dev/null
failures=0
fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

copies=0
while read -r archive; do
  mkdir "$folder/members"
  (cd "$folder/members" && ar x "$archive")
  for member in "$folder"/members/*.o; do
    name=$(basename "$member")
    # VEX and EVEX instructions (AVX and later) begin with v; the others are BMI2.
    newer=$(objdump -d --no-show-raw-insn "$member" |
      grep -cE $'\t(v[a-z0-9]+ .*%[xyz]mm|(shlx|shrx|sarx|mulx|bzhi|pdep|pext|rorx|andn) )' || true)
    case $name in
      goblin_engines_x86_64_v[34].o)
        copies=$((copies + 1))
        [ "$newer" -gt 1000 ] || fail "$name: only $newer newer instructions"
        # Code that runs before main runs on every processor.
        ! objdump -h "$member" | grep -E '\.(init_array|ctors)' || fail "$name: it has static initialisers"
        ;;
      *) [ "$newer" -eq 0 ] || fail "$name: $newer instructions that older processors do not have" ;;
    esac
    case $name in
      goblin_engines_*.o)
        symbols=$(nm --extern-only --defined-only --format=just-symbols "$member")
        [ "$symbols.o" = "${name/engines/engine_factory}" ] || fail "$name: it shows $symbols"
        ;;
    esac
  done
  rm -r "$folder/members"
done < <(find "$folder/prefix" -name 'libgoblin_*.a')
[ "$copies" -eq "$2" ] || fail "$copies copies of the engines for newer processors (there must be $2)"

# The flags are private: programs that link goblin choose their own.
! grep -rn -e '-march' "$folder/prefix/lib" --include='*.cmake' --include='*.pc' || fail "flags for the processor are exported"

# A lower instruction set can be asked for, and only one that exists.
goblin=$folder/prefix/bin/goblin
GOBLIN_INSTRUCTIONS=x86-64 "$goblin" --version | grep -q '(engines: x86-64)$' || fail "x86-64 was not used"
code=0
message=$(GOBLIN_INSTRUCTIONS=fast "$goblin" --version 2>&1) || code=$?
expected="GOBLIN_INSTRUCTIONS: 'fast' (must be one of: .*x86-64)"
if [ "$code" -ne 2 ] || ! grep -q "$expected" <<<"$message"; then fail "fast: exit code $code, $message"; fi

echo "$failures failures"
[ "$failures" -eq 0 ]
