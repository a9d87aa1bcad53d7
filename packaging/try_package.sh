#!/usr/bin/env bash
# Installs the package in a fresh Debian that lies in a folder, with what it depends on and nothing else, boots that with
# systemd, and calls the service: a decision, a reward, kill -9, and the reward is still there. Needs root, and Debian's
# archive. Usage: try_package.sh DEB
set -euo pipefail
package=$(realpath "$1")
root=$(mktemp -d)
boot=''
finish() {
  [ -z "$boot" ] || { kill -9 "$(leader)" "$boot" && wait "$boot"; } 2>/dev/null || true
  rm -rf --one-file-system "$root" "$root.log"
}
trap finish EXIT
fail() {
  echo "try_package: $1" >&2
  [ ! -s "$root.log" ] || tail -n 40 "$root.log" >&2
  exit 1
}
inside() { LC_ALL=C DEBIAN_FRONTEND=noninteractive chroot "$root" "$@"; }
# The first process of the Debian that was booted, and commands that talk to it.
leader() { pgrep -P "$boot" | head -n 1; }
booted() { nsenter --all --target "$(leader)" "$@"; }
port=$((20000 + RANDOM % 10000))
call() { curl -s --retry 60 --retry-delay 1 --retry-connrefused --retry-all-errors "http://127.0.0.1:$port$1" "${@:2}"; }
expect() { grep -qE -- "$2" <<<"$1" || fail "expected $2, got: $1"; }

# The names of what it depends on, without versions: dpkg compares these when it installs the package.
needed=$(dpkg-deb -f "$package" Depends | sed -E 's/\([^)]*\)//g; s/\|[^,]*//g; s/ //g')
release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
echo "try_package: making a Debian $release in $root" >&2
debootstrap --variant=minbase --include="$needed,systemd-sysv,man-db" "$release" "$root" >"$root.log" 2>&1 || fail debootstrap
chmod 755 "$root"
cp "$package" "$root/goblin.deb"
inside dpkg --install /goblin.deb
inside dpkg -s goblin | grep -E '^(Package|Version|Section|Installed-Size|Depends):'
inside goblin --version
inside man --warnings goblin-serve >/dev/null

# A store that is there when systemd starts the service, as a reader of docs/serving.md sets it up.
printf 'ann\tbob\n' >"$root/etc/goblin/edges.tsv"
sed -i "s/^GOBLIN_OPTIONS=.*/GOBLIN_OPTIONS=\"--graph \/etc\/goblin\/edges.tsv --dimension 2 --listen 127.0.0.1:$port\"/" \
  "$root/etc/default/goblin"
inside systemctl enable goblin
inside systemd-analyze verify goblin.service
echo "try_package: booting it" >&2
systemd-nspawn --quiet --register=no --keep-unit --directory="$root" --boot >"$root.log" 2>&1 &
boot=$!
expect "$(call /readyz)" '"ready":true'
expect "$(call /v1/select --json '{"user": "ann", "contexts": [[1, 0], [0, 1]], "event": "first"}')" '"arm"'
expect "$(call /v1/reward --json '{"event": "first", "reward": 1}')" '"repeated":false'
booted systemctl kill --signal=KILL goblin
expect "$(call /v1/reward --json '{"event": "first", "reward": 1}')" '"repeated":true'
booted systemctl reload goblin
expect "$(call /v1/status)" '"rewards":1\b'
expect "$(booted systemctl show --property=NRestarts goblin)" 'NRestarts=1'
booted systemctl stop goblin
expect "$(booted systemctl show --property=ExecMainStatus,Result goblin)" 'Result=success'
booted journalctl --no-pager --output=cat --unit=goblin | tail -n 5
expect "$(booted ls /var/lib/private/goblin)" 'log.sqlite'

booted dpkg --remove goblin
if [ -e "$root/usr/bin/goblin" ] || [ ! -e "$root/etc/default/goblin" ]; then fail "not removed"; fi
booted dpkg --purge goblin
if [ -e "$root/etc/default/goblin" ] || [ ! -e "$root/var/lib/private/goblin/log.sqlite" ]; then fail "not purged"; fi
echo "try_package: installed, served, killed, served again, stopped, removed" >&2
