#!/usr/bin/env bash
# The Debian package has what it should, for root and readable, and names the libraries that the command needs.
# Usage: package_test.sh BUILD_FOLDER
set -euo pipefail
command -v dpkg-shlibdeps >/dev/null || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
(cd "$1" && cpack -B "$folder" >"$folder/said") || { cat "$folder/said"; exit 1; }
package=$(echo "$folder"/goblin_*.deb)

field() { dpkg-deb -f "$package" "$1"; }
expect() { grep -qE -- "$2" <<<"$1" || { echo "expected $2 in: $1"; exit 1; }; }
expect "$(basename "$package")" '^goblin_[0-9.]+-[0-9]+_[a-z0-9]+\.deb$'
expect "$(field Section)" '^science$'
expect "$(field Description | head -n 1)" '^contextual bandits over a social graph$'
for library in libc6 libstdc++6 libfmt libsimdjson libssl3 libsqlite3-0; do expect "$(field Depends)" "\b${library//+/\\+}"; done

list=$(dpkg-deb -c "$package")
while read -r mode file; do
  grep -qE "^$mode root/root .* \./$file\$" <<<"$list" || { echo "no $mode root/root $file in:"; echo "$list"; exit 1; }
done <<'FILES'
-rwxr-xr-x usr/bin/goblin
-rw-r--r-- usr/lib/systemd/system/goblin.service
-rw-r--r-- usr/share/man/man1/goblin.1.gz
-rw-r--r-- usr/share/man/man1/goblin-serve.1.gz
-rw-r--r-- usr/share/doc/goblin/copyright
-rw-r--r-- usr/share/doc/goblin/changelog.gz
-rw-r--r-- usr/share/doc/goblin/changelog.Debian.gz
-rw-r--r-- etc/default/goblin
drwxr-xr-x etc/goblin/
FILES
# Nothing else: the library and its headers are for those who build programs.
[ "$(grep -vcE '/$' <<<"$list")" -eq 8 ] || { echo "$list"; exit 1; }
dpkg-deb -e "$package" "$folder/control"
expect "$(cat "$folder/control/conffiles")" '^/etc/default/goblin$'
dpkg-deb -x "$package" "$folder/root"
"$folder/root/usr/bin/goblin" --version
# Nobody has asked Debian for this package yet, which a first upload would answer.
if command -v lintian >/dev/null; then
  lintian --allow-root --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs "$package"
fi
