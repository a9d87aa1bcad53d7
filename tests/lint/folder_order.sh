#!/usr/bin/env bash
# The data flow is visible in the folders: a file includes only its own folder and folders earlier in this list.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
order=(graph belief bandit cluster data world experiment offline report)
status=0
for ((own = 0; own < ${#order[@]}; own++)); do
  for ((later = own + 1; later < ${#order[@]}; later++)); do
    for folder in "include/goblin/${order[own]}" "src/${order[own]}"; do
      [ -d "$folder" ] || continue
      if grep -rnE "#include \"(goblin/)?${order[later]}/" "$folder"; then
        echo "folder_order: ${order[own]}/ must not include ${order[later]}/" >&2
        status=1
      fi
    done
  done
done
exit $status
