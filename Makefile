# Every target is listed by `make help`. `make demo` needs Rust only; `make test` installs what else it needs.

CARGO ?= cargo
TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
PYTHON := .cache/python/bin/python
FUZZ_SECONDS ?= 30
PREFIX ?= /usr/local

# Go, where setup had to fetch one.
export PATH := $(PATH):$(CURDIR)/.cache/go/bin
export SONAGI_BIN = $(abspath $(TARGET_DIR))/debug/sonagi
# The binary that scripts and foreign partners try, exactly as the Rust tests have built it: cargo unifies the features of the
# crates that it is asked for, and `-p sonagi` alone would compile most of them once more.
BUILD = $(CARGO) test --locked --workspace --no-run --quiet
export SONAGI_PYTHON = $(abspath $(PYTHON))

.DEFAULT_GOAL := help
# The steps of `test` share the target folder and the machine: one after another, also under make -j.
.NOTPARALLEL:
.PHONY: help install demo demo-stack test check unit counts interop differential differential-k6 smoke conformance bench bottlenecks soak churn churn-stack fuzz setup web web-test

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: ## build, and put the binary into PREFIX/bin (/usr/local/bin)
	$(CARGO) build --release --locked -p sonagi
	install -D -m 755 $(TARGET_DIR)/release/sonagi $(DESTDIR)$(PREFIX)/bin/sonagi

demo: ## build, start the chat service, load it with two scenarios, print both verdicts
	$(CARGO) build --profile demo --locked -p sonagi
	$(TARGET_DIR)/demo/sonagi demo

demo-stack: setup ## PostgreSQL, Redis, nginx and three instances of the service, a short chat through all of them, its verdict (experiments/stack/README.md)
	$(CARGO) build --profile demo --locked -p sonagi
	SONAGI_BIN=$(abspath $(TARGET_DIR))/demo/sonagi node experiments/stack/stack.mjs run -- \
	    sh -c '"$$SONAGI_BIN" run experiments/stack/chat.yml --target "$$STACK_URL" --no-folder'

# What is fetched for the tests comes while clippy computes, which needs none of it.
test: ## the whole gate: format, lints, Rust tests, the page in a browser, instruction counts, foreign partners, demo and conformance smoke
	scripts/setup.sh build
	$(MAKE) --no-print-directory setup & setup=$$!; trap 'kill $$setup' INT TERM; \
	    $(MAKE) --no-print-directory check; checked=$$?; wait $$setup && exit $$checked
	$(MAKE) --no-print-directory unit web-test counts interop smoke

check: ## rustfmt and clippy, warnings refused
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets --quiet -- -D warnings

# Tests of the binary wait for runs most of the time: one more at a time than there are cores saves minutes.
unit: setup ## the Rust tests, and those of the arithmetic of benchmarks and comparisons
	RUST_TEST_THREADS=$$(($$(nproc) + 1)) $(CARGO) test --locked --workspace --quiet
	node --test --test-reporter=dot bench/test/*.test.mjs differential/*/test/*.test.mjs experiments/*/test/*.test.mjs

web: setup ## build the page of runs, web/dist/page.html, which the binary embeds; commit it (web/README.md)
	npm --prefix web run --silent build

web-test: setup ## the page: its file is what the sources build, types, lints, unit tests, and tests in Chromium, also of the binary
	npm --prefix web run --silent check
	npm --prefix web run --silent unit
	$(BUILD)
	npm --prefix web run --silent browser

counts: setup ## hold the hot paths' instruction counts against bench/counts/counts.txt; UPDATE=1 writes it
	$(CARGO) build --locked --quiet --profile counts -p sonagi-counts
	$(TARGET_DIR)/counts/counts $(if $(UPDATE),update,check)

interop: setup ## foreign clients against our service, our engine against foreign servers, a few scripts beside Artillery and k6, three planted bottlenecks
	$(BUILD)
	FOLDER=none node --experimental-websocket --test --test-reporter=dot bench/servers/contract.test.mjs
	interop/run.sh
	node differential/artillery/run.mjs quick
	node differential/k6/run.mjs quick
	node differential/k6/types.mjs
	node experiments/bottlenecks/run.mjs quick

differential: setup ## Artillery and Sonagi on the same scripts; SCRIPTS=name chooses, DETAILS=1 prints all (differential/README.md)
	$(BUILD)
	node differential/artillery/run.mjs $(SCRIPTS)

differential-k6: setup ## k6 and Sonagi on the same scripts; SCRIPTS='http ws/echo' chooses, DETAILS=1 prints all (differential/README.md)
	$(BUILD)
	node differential/k6/types.mjs
	node --test --test-reporter=dot differential/k6/planted/*.test.mjs
	node differential/k6/run.mjs $(SCRIPTS)

bottlenecks: setup ## what `explain` says of services with planted bottlenecks and of healthy ones; an hour and more (experiments/bottlenecks/README.md)
	$(BUILD)
	WRITE=1 node experiments/bottlenecks/run.mjs

smoke: ## the demo and a few conformance cases, as a user would run them
	$(BUILD)
	scripts/demo-smoke.sh
	conformance/smoke.sh

conformance: ## the Autobahn suite against our WebSocket server and client
	$(CARGO) build --locked --release -p sonagi
	$(CARGO) build --locked --release -p sonagi-transport --example autobahn_client
	SONAGI_BIN=$(abspath $(TARGET_DIR))/release/sonagi \
	AUTOBAHN_CLIENT=$(abspath $(TARGET_DIR))/release/examples/autobahn_client \
	conformance/autobahn.sh all

bench: ## side by side with other load testers; CASE=name,name PEERS=k6,oha RUNS=5 BEFORE=binary (bench/README.md)
	node bench/run.mjs

soak: ## half of a core's load for MINUTES (30): does memory grow? (bench/README.md)
	node bench/soak.mjs

churn: ## people come and leave over every transport for MINUTES (10): does memory grow? (bench/README.md)
	node bench/churn.mjs

churn-stack: setup ## the same through nginx over three instances, PostgreSQL and Redis: does any process grow, is anything left? (bench/README.md)
	$(CARGO) build --release --locked -p sonagi
	SONAGI_BIN=$(abspath $(TARGET_DIR))/release/sonagi node bench/churn-stack.mjs

fuzz: ## each fuzz target for FUZZ_SECONDS (30); needs nightly Rust and cargo-fuzz
	scripts/fuzz.sh $(FUZZ_SECONDS)

setup: ## install what the tests need beside Rust, Node and make
	@scripts/setup.sh
