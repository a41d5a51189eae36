# Every target is one line; the environment they share is made first, once.
PYTHON ?= python3
BIN := .venv/bin
# Data sets as ARFF files, if there are any beside the checkout; tests skip without.
export HOMI_DATA ?= $(firstword $(wildcard data ../shared/data))

.PHONY: demo test lint types unit slow browser speed methods loading metrics scale explorer docs format clean
.DEFAULT_GOAL := demo

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv && $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]" && touch $@

demo: .venv/installed ; $(BIN)/homi demo --output build/demo
test: lint types unit
lint: .venv/installed ; $(BIN)/ruff check . && $(BIN)/ruff format --check .
types: .venv/installed ; $(BIN)/mypy
# Two processes of one thread each: BLAS threads would only be in each other's way. A test of ten minutes hangs: it says where, and the run ends.
unit: .venv/installed ; OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadgroup --max-worker-restart 0 -o faulthandler_timeout=600 -o faulthandler_exit_on_timeout=true
# Ten minutes of it are fuzzing: HOMI_FUZZ_SECONDS=60 makes that one, HOMI_FUZZ_SEED repeats a run.
slow: .venv/installed ; $(BIN)/python -m pytest -m slow
# Debian and its kin; browser tests skip where there is no Chromium. Playwright fetches none of its own.
browser: .venv/installed ; apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium && $(BIN)/python -m pytest tests/test_*_browser.py
speed: .venv/installed ; $(BIN)/python benchmarks/speed.py
methods: .venv/installed ; $(BIN)/python benchmarks/methods.py
loading: .venv/installed ; $(BIN)/python benchmarks/loading.py
metrics: .venv/installed ; $(BIN)/python benchmarks/metrics.py
scale: .venv/installed ; $(BIN)/python benchmarks/scale.py && $(BIN)/python benchmarks/scale_sparse.py --output docs/scale_sparse.md && $(BIN)/python benchmarks/wide.py --output docs/wide.md && $(BIN)/python benchmarks/scale_dask.py && $(BIN)/python benchmarks/scale_model.py
explorer: .venv/installed ; $(BIN)/python benchmarks/explorer.py --output docs/explorer_speed.md
# Warnings are errors; open build/docs/index.html.
docs: .venv/installed ; OPENBLAS_NUM_THREADS=1 MPLBACKEND=Agg $(BIN)/python -m sphinx -q -W --keep-going -n docs build/docs
format: .venv/installed ; $(BIN)/ruff check --fix . && $(BIN)/ruff format .
clean: ; rm -rf .venv build dist docs/gallery docs/api/generated .pytest_cache .mypy_cache .ruff_cache .hypothesis
