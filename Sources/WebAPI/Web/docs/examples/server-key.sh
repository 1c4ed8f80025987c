#!/usr/bin/env bash
# A back end makes two users and a token. Needs KEY, curl 7.82 and jq.
set -euo pipefail
# docs:begin
SERVER=${SERVER:-http://127.0.0.1:8080}
ask() { curl -sS --fail-with-body -H "Authorization: Bearer $KEY" -X "$1" "$SERVER/v1/server/$2" "${@:3}"; }

ask PUT users/ext:customer-17 --json '{"displayName": "Ann Avery"}' | jq -r .user.displayName    # Ann Avery
TOKEN=$(ask POST users/ext:customer-17/tokens --json "{
    \"device\": {\"id\": \"$(cat /proc/sys/kernel/random/uuid)\", \"name\": \"Ann's phone\", \"platform\": \"ios\"}
}" | jq -r .accessToken)

# The app uses it as if Ann had signed in here.
curl -sS --fail-with-body -H "Authorization: Bearer $TOKEN" "$SERVER/v1/me" | jq -r .displayName   # Ann Avery
# docs:end
