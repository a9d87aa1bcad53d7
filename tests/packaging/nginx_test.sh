#!/usr/bin/env bash
# The configuration of nginx in the page works: a server with a key behind it, called over TLS.
# Usage: nginx_test.sh PAGE GOBLIN
set -euo pipefail
nginx=$(PATH=$PATH:/usr/sbin command -v nginx) && command -v curl openssl >/dev/null || exit 77
page=$(realpath "$1")
goblin=$(realpath "$2")
folder=$(mktemp -d)
trap 'jobs -p | xargs -r kill 2>/dev/null; wait; rm -rf "$folder"' EXIT
cd "$folder"

free_port() {
  local port
  while port=$((20000 + RANDOM % 10000)) && (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do :; done
  echo "$port"
}
inner=$(free_port)
outer=$(free_port)
while [ "$outer" = "$inner" ]; do outer=$(free_port); done
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=decide.example -addext subjectAltName=DNS:decide.example \
  -keyout key.pem -out certificate.pem 2>/dev/null
printf 'tester %s admin\n' "$(printf secret | sha256sum | cut -d ' ' -f 1)" >keys
printf 'ann\tbob\n' >edges.tsv
"$goblin" serve --graph edges.tsv --dimension 2 --store store --listen "127.0.0.1:$inner" --keys keys 2>goblin.log &

# The page's block, with the ports and files of this test, as part of a whole configuration.
{
  printf 'daemon off; pid nginx.pid; error_log stderr; events {}\nhttp {\naccess_log off;\n'
  for part in client_body proxy fastcgi uwsgi scgi; do
    # Not all of these are in every nginx.
    "$nginx" -V 2>&1 | grep -q "without-http_${part}_module" || printf '%s_temp_path %s;\n' "$part" "$folder"
  done
  awk '/^```nginx/ { inside = 1; next } /^```/ { inside = 0 } inside' "$page" | sed -E \
    "s|127\.0\.0\.1:8080|127.0.0.1:$inner|; s|listen 443|listen 127.0.0.1:$outer|; s|/etc/ssl/decide\.pem|certificate.pem|; s|/etc/ssl/decide\.key|key.pem|"
  printf '}\n'
} >nginx.conf
"$nginx" -p "$folder" -c "$folder/nginx.conf" 2>nginx.log &

call() {
  curl -s --cacert certificate.pem --resolve "decide.example:$outer:127.0.0.1" --retry 30 --retry-delay 1 --retry-all-errors \
    -H 'Authorization: Bearer secret' "https://decide.example:$outer$1" "${@:2}"
}
expect() {
  grep -qE -- "$2" <<<"$1" && return
  echo "expected $2, got: $1"
  cat goblin.log nginx.log
  exit 1
}
expect "$(call /readyz)" '"ready":true'
expect "$(call /v1/items/a%2Fb%20%25 -X PUT --json '{"context": [1, 0]}')" '"offset"'
expect "$(call /v1/items/a%2Fb%20%25)" '"item":"a/b %"'
expect "$(call /v1/select --json '{"user": "ann", "items": ["a/b %"], "event": "e"}')" '"event":"e"'
expect "$(call /v1/reward --json '{"event": "e", "reward": 1}')" '"repeated":false'
expect "$(call '/v1/log?from=1')" '"user":"ann"'
expect "$(call / -i)" '^HTTP/2 200'
expect "$(call /v1/status -i)" '^x-request-id: [0-9a-f]{32}'
expect "$(curl -sk "https://127.0.0.1:$outer/v1/status")" '"status":401'
