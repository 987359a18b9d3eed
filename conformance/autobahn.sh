#!/usr/bin/env bash
# Runs the Autobahn test suite against our WebSocket server (`/ws/echo` of `sonagi serve`), our client, or both.
#
#   conformance/autobahn.sh server|client|all [case pattern …]      default cases: 1–7, 9, 10
#
# SONAGI_BIN and AUTOBAHN_CLIENT name the binaries. Cases 12 and 13 are permessage-deflate, which we do not offer;
# 8 does not exist. Every case must come out OK, NON-STRICT or INFORMATIONAL.
set -euo pipefail
cd "$(dirname "$0")/.."

side=${1:?server, client or all}
shift
cases=("$@")
[ ${#cases[@]} -gt 0 ] || cases=('1.*' '2.*' '3.*' '4.*' '5.*' '6.*' '7.*' '9.*' '10.*')
sonagi=${SONAGI_BIN:-target/release/sonagi}
client=${AUTOBAHN_CLIENT:-target/release/examples/autobahn_client}
wstest=.cache/autobahn/bin/wstest
reports=$PWD/.cache/autobahn-reports

conformance/setup.sh

work=$(mktemp -d)
started=()
finish() {
    local pid
    for pid in "${started[@]:-}"; do
        [ -n "$pid" ] && kill "$pid" 2>/dev/null || true
    done
    rm -rf "$work"
}
trap finish EXIT

# Waits, at most 20 s, until the command after the description succeeds.
await() {
    local what=$1 attempt
    shift
    for attempt in $(seq 200); do
        "$@" && return
        sleep 0.1
    done
    echo "conformance: $what did not come within 20 s" >&2
    cat "$work"/*.log >&2
    exit 1
}

case_list() { printf '"%s",' "${cases[@]}" | sed 's/,$//'; }

test_server() {
    rm -rf "$reports/server"
    "$sonagi" serve --listen 127.0.0.1:0 >"$work/serve.log" 2>&1 &
    started+=($!)
    await "the service's address" grep -qo 'http://127\.0\.0\.1:[0-9]*' "$work/serve.log"
    local address
    address=$(grep -o '127\.0\.0\.1:[0-9]*' "$work/serve.log" | head -1)
    cat >"$work/client.json" <<JSON
{"outdir": "$reports/server", "servers": [{"agent": "sonagi", "url": "ws://$address/ws/echo"}],
 "cases": [$(case_list)], "exclude-cases": [], "exclude-agent-cases": {}}
JSON
    timeout 1200 "$wstest" -m fuzzingclient -s "$work/client.json" >"$work/wstest.log" 2>&1 || { cat "$work/wstest.log" >&2; exit 1; }
    node conformance/judge.mjs server "$reports/server/index.json"
}

test_client() {
    rm -rf "$reports/client"
    local port
    port=$(node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })')
    cat >"$work/server.json" <<JSON
{"outdir": "$reports/client", "url": "ws://127.0.0.1:$port",
 "cases": [$(case_list)], "exclude-cases": [], "exclude-agent-cases": {}}
JSON
    "$wstest" -m fuzzingserver --webport 0 -s "$work/server.json" >"$work/wstest.log" 2>&1 &
    started+=($!)
    await "the fuzzing server" bash -c "exec 3<>/dev/tcp/127.0.0.1/$port" 2>/dev/null
    timeout 1200 "$client" "ws://127.0.0.1:$port" || { cat "$work/wstest.log" >&2; exit 1; }
    node conformance/judge.mjs client "$reports/client/index.json"
}

case $side in
    server) test_server ;;
    client) test_client ;;
    all) test_server; test_client ;;
    *) echo "conformance: the side is server, client or all, got $side" >&2; exit 2 ;;
esac
