#!/usr/bin/env bash
# Runs every fuzz target for the given number of seconds, from the committed corpus; findings stay in fuzz/artifacts.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:?seconds per target}
if ! cargo fuzz --version >/dev/null 2>&1; then
    echo "fuzz: cargo-fuzz was not found" >&2
    echo "hint: cargo install cargo-fuzz, and a nightly Rust; the corpora also run as ordinary tests in make test" >&2
    exit 1
fi
for target in $(cargo +nightly fuzz list); do
    echo "fuzz: $target for $seconds s"
    # New inputs go to a folder of their own, so that the committed corpus stays small.
    found=.cache/fuzz/$target
    mkdir -p "$found"
    cargo +nightly fuzz run "$target" "$found" "fuzz/corpus/$target" -- -max_total_time="$seconds" -verbosity=0 -print_final_stats=1
done
