# touchstone: `make run` does the main job, `make test` passes the tests. Both set up what they need.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CLUSTER_VENV := .venv-cluster
ENGINE := target/release/touchstone-engine
ENGINE_SOURCES := $(shell find engine -name '*.rs' -o -name 'Cargo.toml' -o -name '*.toml' 2>/dev/null) Cargo.toml Cargo.lock
RUN ?= users --quick
# One more than CPUs: much of a test is waiting, and with two more the tests of capacity take CPU from each other.
TEST_WORKERS ?= $(shell expr 1 + $$(nproc 2>/dev/null || echo 2))
PACKAGING := target/packaging
DIST ?= dist
SITE := target/site
SITE_DIR ?= site
WHEEL_TARGET ?= $(shell rustc -vV 2>/dev/null | sed -n 's/^host: //p')

.DEFAULT_GOAL := help
.PHONY: help setup run test dev test-engine test-mote lint lint-lab lint-engine format faults findings calibrate wheel site pictures clean test-slow test-native test-broken test-cluster

help: ## Show this
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## What a run needs: the Python environment and the engine, at once
	@$(MAKE) --no-print-directory -j2 $(VENV)/ready

# Installing the lab builds the engine, unless it is there.
$(VENV)/ready: $(VENV)/packages pyproject.toml | $(ENGINE)
	PATH="$(CURDIR)/$(BIN):$$PATH" pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

# With bytecode, which an environment may forbid Python to keep: without it each command would compile its libraries.
$(VENV)/packages: requirements.lock packaging/setup-requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "touchstone needs Python 3.11 or newer; set PYTHON"; exit 2; }
	@command -v cargo >/dev/null || { echo "the engine needs a Rust toolchain; install it by rustup"; exit 2; }
	@echo "installing Python packages into $(VENV): about half a minute"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r packaging/setup-requirements.lock
	$(BIN)/uv pip install --quiet --python $(VENV) --compile-bytecode --require-hashes -r requirements.lock
	$(BIN)/python -m compileall -q src
	@touch $@

dev: setup ## What tests and linters need besides
	@$(MAKE) --no-print-directory $(VENV)/dev

$(VENV)/dev: requirements-dev.lock $(VENV)/packages
	$(BIN)/uv pip install --quiet --python $(VENV) --compile-bytecode --require-hashes -r requirements-dev.lock
	@touch $@

$(CLUSTER_VENV)/ready: requirements-cluster.lock pyproject.toml
	$(PYTHON) -m venv $(CLUSTER_VENV)
	$(CLUSTER_VENV)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-cluster.lock
	PATH="$(CURDIR)/$(CLUSTER_VENV)/bin:$$PATH" pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(ENGINE): $(ENGINE_SOURCES)
	@echo "building the engine: about two minutes on two CPUs, once"
	cargo build --release --locked --package touchstone-engine
	@touch $@

run: setup ## Measure the scenario `users` (another: make run RUN="crud --quick")
	$(BIN)/touchstone run $(RUN)

test: dev ## The tests: engine, lab, mote
	@$(MAKE) --no-print-directory -j2 --output-sync=line test-engine test-mote
	$(BIN)/pytest -n $(TEST_WORKERS) --dist worksteal -m "not slow and not native and not broken and not cluster"

# At once: the engine's tests mostly wait, mote's mostly compile. `--tests` leaves out examples in comments, which the engine has none of.
# A test binary that fails is run once more, and named: its tests are put to real sockets on a machine that others may use.
test-engine:
	@mkdir -p target && : >target/again
	@cargo test --workspace --locked --quiet --tests --no-fail-fast 2>target/failed || { cat target/failed >&2; \
	  sed -n '/^error: [0-9]* targets* failed:/,$$ s/^ *`\(.*\)`$$/\1/p' target/failed >target/again; test -s target/again; }
	@while read -r which; do echo "once more: cargo test $$which" >&2; \
	  cargo test --locked --quiet $$which </dev/null || exit; done <target/again

test-mote:
	mote/check.sh

test-slow: dev ## Real brokers, planted faults in short, broken stacks: half an hour
	$(BIN)/pytest -m "slow and not native and not broken and not cluster"

test-native: dev ## The tests that build native images; minutes long
	$(BIN)/pytest -m native

test-cluster: $(CLUSTER_VENV)/ready $(ENGINE) ## Three machines in network namespaces, each with Ray; needs root
	$(CLUSTER_VENV)/bin/pytest -m cluster tests/cluster

test-broken: dev ## Every stack of `users`, broken in three ways each; minutes long
	$(BIN)/pytest -m "broken or slow" tests/run/test_broken_stacks.py

lint: dev ## All linters and type checks
	@$(MAKE) --no-print-directory -j2 --output-sync=line lint-lab lint-engine

# At once: mypy is one thread, clippy's last crates are one thread each.
lint-lab:
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/mypy

lint-engine:
	cargo fmt --check
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
	$(BIN)/python tests/lint/stacks.py

format: dev ## Format everything
	$(BIN)/ruff format src tests benchmarks
	$(BIN)/ruff check --fix --quiet src tests benchmarks
	cargo fmt

faults: dev ## Plant every fault of the catalogue, and count caught, missed and false alarms
	$(BIN)/python -m tests.faults

findings: ## Run the surprises about other software in findings/, and update their index
	findings/run

calibrate: dev ## Measure how often the judge is right, and write it into docs/methodology.md
	$(BIN)/python -m benchmarks.calibration --trials 1000 --write docs/methodology.md

wheel: $(PACKAGING)/ready ## A wheel with the engine inside, in dist/ (another: make wheel WHEEL_TARGET=aarch64-unknown-linux-gnu)
	PATH="$(CURDIR)/$(PACKAGING)/bin:$$PATH" maturin build --release --zig --strip \
	  --target $(WHEEL_TARGET) --compatibility manylinux_2_28 --out $(DIST)

$(PACKAGING)/ready: packaging/requirements.lock
	$(PYTHON) -m venv $(PACKAGING)
	$(PACKAGING)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r packaging/requirements.lock
	@touch $@

site: setup $(SITE)/ready ## The documentation as a site, in site/; it can be read offline
	NO_MKDOCS_2_WARNING=1 PYTHONPATH="src:.:$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" \
	  $(SITE)/bin/mkdocs build --quiet --site-dir "$(abspath $(SITE_DIR))"

# Without npm the site has no search when it is opened from files; served it has one.
$(SITE)/ready: packaging/site-requirements.lock
	$(PYTHON) -m venv $(SITE)
	$(SITE)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r packaging/site-requirements.lock
	! command -v npm >/dev/null || npm install --silent --prefix $(SITE) iframe-worker@1.0.4
	@touch $@

pictures: dev ## The pictures of README and docs/, from a recorded run
	$(BIN)/python -m tests.browser.pictures docs/images

clean: ## Remove the environment and the builds
	rm -rf $(VENV) $(CLUSTER_VENV) target dist site
