#!/usr/bin/env bash
# Runs `sonagi demo` as a user would, away from the repository, and holds it to what the manual promises: exit code 0,
# two passing verdicts, every owed copy delivered, run folders that `sonagi report` reads.
set -euo pipefail
cd "$(dirname "$0")/.."

sonagi=${SONAGI_BIN:-$PWD/target/debug/sonagi}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "demo: $1" >&2; cat "$work/out" "$work/err" >&2; exit 1; }

started=$(date +%s)
(cd "$work" && timeout 180 "$sonagi" demo >out 2>err </dev/null) || fail "exit code $?, expected 0"
folders=("$work"/runs/*/)
[ ${#folders[@]} = 2 ] || fail "left ${#folders[@]} run folders, expected 2"
for folder in "${folders[@]}"; do
    "$sonagi" report "$folder" --json >"$work/summary.json" || fail "sonagi report cannot read $folder"
    node scripts/demo-verdict.mjs "$work/summary.json" || fail "a verdict of the demo is not what the manual promises"
done
echo "demo: both scenarios passed in $(($(date +%s) - started)) s"
