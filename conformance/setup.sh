#!/usr/bin/env bash
# Sets up the Autobahn test suite in .cache/autobahn, once per lock file. Exit code 3: there is no Python 2.7 to do it with.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=.cache/autobahn
stamp=$venv/.sonagi-lock
lock=conformance/requirements.txt
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$(sha256sum <"$lock")" ]; then
    exit 0
fi

# A python2.7 that runs: on PATH, or among pyenv's versions (whose shims exist for versions that are not chosen).
find_python() {
    local candidate
    for candidate in "$(command -v python2.7 || true)" "${PYENV_ROOT:-${HOME:-}/.pyenv}"/versions/2.7.*/bin/python2.7; do
        if [ -x "$candidate" ] && "$candidate" -c '' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    return 1
}

if ! python=$(find_python); then
    echo "conformance: no Python 2.7 was found, which the Autobahn test suite needs" >&2
    echo "hint: pyenv install 2.7.18 (Debian 12 has no package of it)" >&2
    exit 3
fi

echo "conformance: setting up the Autobahn test suite in $venv"
rm -rf "$venv" .cache/python2
# virtualenv goes to a folder of ours too, not into the user's site-packages.
export PYTHONUSERBASE=$PWD/.cache/python2 PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONWARNINGS=ignore
"$python" -m pip install --quiet --user virtualenv==20.15.1 2>/dev/null
"$python" -m virtualenv --quiet --no-download "$venv"
"$venv/bin/python" -m pip install --quiet -r "$lock" 2>/dev/null
"$venv/bin/wstest" --autobahnversion >/dev/null
sha256sum <"$lock" >"$stamp"
