# Every target is one line; the environment they share is made first, once.
PYTHON ?= python3
BIN := .venv/bin
# Data sets as ARFF files, if there are any beside the checkout; tests skip without.
export HOMI_DATA ?= $(firstword $(wildcard data ../shared/data))

.PHONY: demo test lint types workflows unit lowest newest contract dist ci slow golden browser speed methods loading startup metrics scale explorer docs format clean
.DEFAULT_GOAL := demo
# schema=files, for `make workflows`
SCHEMAS := github-workflows=.github/workflows/*.yml github-issue-forms=.github/ISSUE_TEMPLATE/[bi]*.yml github-issue-config=.github/ISSUE_TEMPLATE/config.yml dependabot=.github/dependabot.yml readthedocs=.readthedocs.yaml citation-file-format=CITATION.cff

INSTALL := $(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt
# What the demo needs. Bytecode is written on import only: all of it would be 100 MB more.
.venv/demo: pyproject.toml constraints.txt
	@echo "Making .venv: about 30 packages, 370 MB, a minute."
	$(PYTHON) -m venv .venv && $(INSTALL) --no-compile -e ".[demo]" && touch $@
# Everything, for tests and documentation.
.venv/installed: .venv/demo
	@echo "Adding tools, tests and extras to .venv: about 100 packages, 1.1 GB, minutes."
	$(INSTALL) --no-compile -e ".[dev]" && touch $@

demo: .venv/demo ; $(BIN)/homi demo --output build/demo
# Two at a time: the others work while tests are collected.
test: .venv/installed ; @$(MAKE) --no-print-directory -j 2 unit lint workflows types
lint: .venv/installed ; $(BIN)/ruff check . && $(BIN)/ruff format --check .
types: .venv/installed ; $(BIN)/mypy
workflows: .venv/installed ; $(foreach pair,$(SCHEMAS),$(BIN)/check-jsonschema --builtin-schema vendor.$(subst =, ,$(pair)) &&) true
# Three processes of one thread each, for two cores: some wait for a browser, a cluster or a process that is killed, and BLAS threads would only be in each other's way. Each has a third of the files in their order, so that what tests of a file share is made once, and takes from the others when it is done. Bytecode is kept: a hundred tests start a Python. A test of ten minutes hangs: it says where, and the run ends.
PYTEST := -m pytest -n 3 --dist worksteal --max-worker-restart 0 -o faulthandler_timeout=600 -o faulthandler_exit_on_timeout=true
unit lowest newest contract: export OPENBLAS_NUM_THREADS = 1
unit lowest newest contract: export OMP_NUM_THREADS = 1
unexport PYTHONDONTWRITEBYTECODE
unit: .venv/installed ; $(BIN)/python $(PYTEST)
# Tests in a new environment build/$(1) without constraints, installed by uv with options $(2).
tests_in = $(PYTHON) -m venv --clear build/$(1) && build/$(1)/bin/python -m pip install --quiet --disable-pip-version-check uv && build/$(1)/bin/uv pip install --quiet --python build/$(1) -e ".[test]" $(2) && build/$(1)/bin/python $(PYTEST)
# The lower bounds of pyproject.toml. Our bound of NumPy holds also where river, of which we read a file only, asks for a newer one. Old releases warn of their own dependencies, which are new.
lowest: PYTHON = python3.11
lowest: build/numpy.txt ; $(call tests_in,lowest,--resolution lowest-direct --overrides $<) -W ignore::DeprecationWarning
build/numpy.txt: pyproject.toml ; mkdir -p build && sed -n 's/^ *"\(numpy>=.*\)",/\1/p' $< > $@
# make newest PYTHON=python3.13
newest: ; $(call tests_in,newest-$(notdir $(PYTHON)))
# make contract SKLEARN=1.7
SKLEARN ?= 1.6
contract: ; $(call tests_in,sklearn-$(SKLEARN),"scikit-learn~=$(SKLEARN).0") tests/test_contract.py tests/test_thresholds.py
dist: .venv/installed ; rm -rf dist && $(BIN)/python -m hatchling build
# What .github/workflows do, with the Pythons at hand.
ci: test docs dist lowest
	for version in 1.6 1.7 1.8 1.9; do $(MAKE) contract SKLEARN=$$version || exit 1; done
	for python in python3.11 python3.12 python3.13 python3.14; do if $$python --version; then $(MAKE) newest PYTHON=$$python || exit 1; else echo "$$python is not here and was not tried"; fi; done
# Ten minutes of it are fuzzing: HOMI_FUZZ_SECONDS=60 makes that one, HOMI_FUZZ_SEED repeats a run.
slow: .venv/installed ; $(BIN)/python -m pytest -m slow
# Debian and its kin; browser tests skip where there is no Chromium. Playwright fetches none of its own.
browser: .venv/installed ; apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium && $(BIN)/python -m pytest tests/test_*_browser.py
golden: .venv/installed ; $(BIN)/python tests/test_golden.py
speed: .venv/installed ; $(BIN)/python benchmarks/speed.py
methods: .venv/installed ; $(BIN)/python benchmarks/methods.py
loading: .venv/installed ; $(BIN)/python benchmarks/loading.py
startup: .venv/installed ; $(BIN)/python benchmarks/startup.py --output docs/measured/startup.md && $(BIN)/python benchmarks/neighbors.py --output docs/measured/neighbors.md
metrics: .venv/installed ; $(BIN)/python benchmarks/metrics.py
scale: .venv/installed ; $(BIN)/python benchmarks/scale.py && $(BIN)/python benchmarks/scale_sparse.py --output docs/measured/scale_sparse.md && $(BIN)/python benchmarks/text.py --output docs/measured/text.md && $(BIN)/python benchmarks/wide.py --output docs/measured/wide.md && $(BIN)/python benchmarks/scale_dask.py && $(BIN)/python benchmarks/scale_model.py
explorer: .venv/installed ; $(BIN)/python benchmarks/explorer.py --output docs/measured/explorer_speed.md --pictures docs
# Warnings are errors; open build/docs/index.html.
docs: .venv/installed ; OPENBLAS_NUM_THREADS=1 MPLBACKEND=Agg $(BIN)/python -m sphinx -q -W --keep-going -n docs build/docs
format: .venv/installed ; $(BIN)/ruff check --fix . && $(BIN)/ruff format .
clean: ; rm -rf .venv build dist docs/gallery docs/api/generated .pytest_cache .mypy_cache .ruff_cache .hypothesis
