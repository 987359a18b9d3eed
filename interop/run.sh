#!/usr/bin/env bash
# Runs the interop tests: every *.test.mjs below this folder, or those given.
set -euo pipefail
cd "$(dirname "$0")"

export SONAGI_BIN=${SONAGI_BIN:-$PWD/../target/debug/sonagi}
export SONAGI_PYTHON=${SONAGI_PYTHON:-$PWD/../.cache/python/bin/python}
[ -x "$SONAGI_BIN" ] || { echo "interop: $SONAGI_BIN is not built" >&2; exit 1; }
[ -d node_modules ] || { echo "interop: the npm packages are not installed; hint: make setup" >&2; exit 1; }

if [ $# -eq 0 ]; then
    set -- clients/*.test.mjs servers/*.test.mjs protocol/*.test.mjs pairs/*.test.mjs
fi
# Dots and failures for who watches; the counts from a second report.
report=$(mktemp)
trap 'rm -f "$report"' EXIT
status=0
node --test --test-concurrency=2 \
    --test-reporter=dot --test-reporter-destination=stdout \
    --test-reporter=tap --test-reporter-destination="$report" "$@" || status=$?
echo "interop: $(grep -E '^# (tests|pass|fail|skipped|duration_ms) ' "$report" | sed 's/^# //' | paste -sd, | sed 's/,/, /g')"
exit "$status"
