# Two commands: `make run` profiles the reference GAN, `make test` checks everything. Both set up .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
USER := $(VENV)/.user
STAMP := $(VENV)/.installed
QUICK_END := $(VENV)/.quick_end
WORKERS ?= 3

.PHONY: run test lint format unit test-long test-versions bench audit release site clean
run: $(USER)
	$(BIN)/python benchmarks/first_report.py

# mypy needs one processor for a minute, so linters run next to the tests. Their output comes last.
test: $(STAMP) $(QUICK_END)
	@mkdir -p build; \
	$(MAKE) --no-print-directory lint >build/lint.txt 2>&1 & linters=$$!; \
	$(MAKE) --no-print-directory unit; tested=$$?; \
	wait $$linters; linted=$$?; cat build/lint.txt; exit $$((tested + linted))

lint: $(STAMP)
	$(BIN)/ruff check tfperfkit plugins examples tests benchmarks
	$(BIN)/ruff format --check --quiet tfperfkit plugins examples tests benchmarks
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP)
	$(BIN)/ruff check --fix --quiet tfperfkit plugins examples tests benchmarks
	$(BIN)/ruff format --quiet tfperfkit plugins examples tests benchmarks

# Each module's tests stay together, so that what it starts once serves all of them. In the order of their names, which
# ends with thousands of short ones: no worker is left alone with a long one. Three workers for two cores: a worker waits
# a third of its time for scripts that sleep. benchmarks/install.py has written the bytecode of the installed packages.
unit: $(STAMP) $(QUICK_END)
	$(BIN)/python -m compileall -q tfperfkit plugins
	$(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder --durations 15 tests

# A user needs TensorFlow and the patches; developers need the rest. JAX is installed by the tests that need it
# (tests/builders/jax_apart.py).
$(USER): pyproject.toml constraints.txt hatch_build.py $(wildcard tfperfkit/instruments/*.h tfperfkit/instruments/*/*.[ch])
	$(PYTHON) benchmarks/install.py $(VENV) '.[tensorflow,fix]'
	touch $(USER)

$(STAMP): $(USER)
	$(PYTHON) benchmarks/install.py $(VENV) '.[all,dev]'
	touch $(STAMP)

# For the tests' processes alone: see tests/conftest.py.
$(QUICK_END): $(STAMP) tests/builders/quick_end.pth
	cp tests/builders/quick_end.pth "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
	touch $(QUICK_END)

# Two hours on two cores: every script of the fault collection, 200 crashes, every program of the transparency suite, and
# hostile input with many more examples. In parts: after a stop the same command goes on. LONG=PART runs one part.
test-long: $(STAMP) $(QUICK_END)
	$(BIN)/python -m tests.long $(LONG)

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
