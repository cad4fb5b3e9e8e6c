# Two commands: `make run` profiles the reference GAN, `make test` checks everything. Both set up .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
QUICK_END := $(VENV)/.quick_end

.PHONY: run test lint format unit test-long test-versions bench audit release site clean
run: $(STAMP)
	$(BIN)/tfperf run examples/gan/train.py --probes lines,retrace,tfprof

test: lint unit

lint: $(STAMP)
	$(BIN)/ruff check tfperfkit plugins examples tests benchmarks
	$(BIN)/ruff format --check --quiet tfperfkit plugins examples tests benchmarks
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP)
	$(BIN)/ruff check --fix --quiet tfperfkit plugins examples tests benchmarks
	$(BIN)/ruff format --quiet tfperfkit plugins examples tests benchmarks

# Two workers for the two cores; each module's tests stay together, so that what it starts once serves all of them. In the
# order of their names, which ends with thousands of short ones: no worker is left alone with a long one. Bytecode is
# written before: where Python is told to write none, each of the thousand processes would compile all anew.
unit: $(STAMP) $(QUICK_END)
	$(BIN)/python -m compileall -q tfperfkit plugins
	$(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder --durations 15 tests

# JAX, for two of Keras' other backends, stands apart: TensorFlow imports it wherever it is installed.
$(STAMP): pyproject.toml constraints.txt hatch_build.py $(wildcard tfperfkit/instruments/*.h tfperfkit/instruments/*/*.[ch])
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[all,dev]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt \
	  --no-deps --upgrade --target $(VENV)/jax jax jaxlib scipy
	touch $(STAMP)

# For the tests' processes alone: see tests/conftest.py.
$(QUICK_END): $(STAMP) tests/builders/quick_end.pth
	cp tests/builders/quick_end.pth "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
	touch $(QUICK_END)

# Fifty minutes on two cores: every script of the fault collection, 200 crashes, every program of the transparency suite,
# and hostile input with many more examples.
test-long: $(STAMP) $(QUICK_END)
	TFPERF_LONG=1 $(BIN)/pytest -n 2 --dist worksteal --timeout 3600 tests/faults tests/crashes tests/transparency tests/hostile tests/compat tests/regressions
	TFPERF_LONG=1 $(BIN)/pytest -n 2 --dist worksteal --timeout 3600 -m long tests/integration
	TFPERF_LONG=1 $(BIN)/pytest -n 2 --dist worksteal --timeout 3600 tests/soundness

# The oldest and the newest TensorFlow and Python, and Python 3.12, in environments of their own: half an hour for each. Not part of CI.
test-versions:
	$(PYTHON) tests/versions.py

# An hour; with the profilers to compare with. BENCH=--help tells how to measure a part.
bench: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	$(BIN)/python -m benchmarks $(BENCH)

# Asks the advisory database of the Python packages about the pinned versions; needs the internet.
audit: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[audit]'
	$(BIN)/pip-audit --strict --disable-pip --no-deps -r constraints.txt || \
	  { echo "audit: a weakness was found, or the advisory database could not be asked"; exit 1; }

# Builds, checks and tries what would be uploaded; uploads nothing. Some minutes: TensorFlow is installed anew.
release: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[release]'
	$(BIN)/python tests/release.py

# The documentation as a site, in build/site: every link and anchor is checked. Opens from disk, search included.
site: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo build/site/index.html

clean:
	rm -rf $(VENV) $(VENV)-* .mypy_cache .ruff_cache .pytest_cache
