#!/usr/bin/env bash
# Two users, two tokens and an answered call. Needs curl 7.82 and jq.
set -euo pipefail
# docs:begin
SERVER=${SERVER:-http://127.0.0.1:8080}
uuid() { cat /proc/sys/kernel/random/uuid; }

sign_up() { # name, e-mail address
    curl -sS --fail-with-body "$SERVER/v1/accounts" --json "{
        \"email\": \"$2\", \"password\": \"correct horse battery\", \"displayName\": \"$1\",
        \"device\": {\"name\": \"curl\", \"platform\": \"shell\"}
    }"
}
ANN=$(sign_up Ann "ann-$(uuid)@example.org")
BEN=$(sign_up Ben "ben-$(uuid)@example.org")

# An endpoint is one client: an id and a secret of its own making.
ANN_ENDPOINT="$(uuid) a-long-secret-of-anns-phone"
BEN_ENDPOINT="$(uuid) a-long-secret-of-bens-phone"
post() { # as, endpoint, path, body
    curl -sS --fail-with-body "$SERVER/v1/$3" -H "Authorization: Bearer $(jq -r .accessToken <<< "$1")" \
        -H "Switchboard-Endpoint: $2" --json "$4"
}

CALL=$(post "$ANN" "$ANN_ENDPOINT" calls "{
    \"clientID\": \"$(uuid)\", \"callees\": [$(jq .user.id <<< "$BEN")], \"kind\": \"audio\",
    \"offer\": {\"sdp\": \"v=0\"}
}" | jq -r .call.id)
post "$BEN" "$BEN_ENDPOINT" "calls/$CALL/ringing" '{}' > /dev/null
post "$BEN" "$BEN_ENDPOINT" "calls/$CALL/accept" "{\"clientID\": \"$(uuid)\"}" | jq -r .call.status   # active
post "$ANN" "$ANN_ENDPOINT" "calls/$CALL/end" '{}' | jq -r .call.endReason                            # hung_up
# docs:end
