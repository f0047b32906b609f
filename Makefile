PYTHON ?= python3
PRESET ?= fast
ARGS ?=
BIN := .venv/bin
STORE ?= artifacts/store

.PHONY: help blueprint explore test test-quick test-slow lint hooks mlflow clean

help:
	@echo "make blueprint [PRESET=smoke|fast|standard|accurate] [ARGS='key=value ...']   train a blueprint"
	@echo "make explore     the results in a browser: grids, solves, comparisons, a table to play at"
	@echo "make test        lint, types, import layers, tests"
	@echo "make test-quick  the tests of the inner loop: no whole runs, no Ray, nothing that takes minutes"
	@echo "make test-slow   the slow checks, and loops of many minutes that make test leaves out"
	@echo "make lint        lint, types, import layers"
	@echo "make hooks       lint before every commit (pre-commit)"
	@echo "make mlflow      the runs in a browser"
	@echo "make clean       remove the environment, compiled kernels and caches (not the store)"

.venv/.made:
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0] + "; try make PYTHON=python3.12 ...") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	@touch $@

.venv/.installed: .venv/.made pyproject.toml
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

.venv/.installed-dev: .venv/.made pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch .venv/.installed $@

blueprint: .venv/.installed
	$(BIN)/python -m pipelines.blueprint +preset=$(PRESET) $(ARGS)

explore: .venv/.installed
	$(BIN)/poker-solver explore --store $(STORE) $(ARGS)

lint: .venv/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

hooks: .venv/.installed-dev
	$(BIN)/pre-commit install

# Two workers, a file of tests each at a time (modules share their fixtures), in the order of tests/conftest.py.
PYTEST := $(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder --durations 15

# Tests of the page need a Chromium; ARGS='-m "not deep and not browser"' leaves them out.
test: lint
	$(if $(findstring not browser,$(ARGS)),,@$(BIN)/python scripts/chromium.py)
	$(PYTEST) -m "not deep" $(ARGS)

test-quick: .venv/.installed-dev
	$(PYTEST) -m "not deep and not slow and not whole" $(ARGS)

test-slow: .venv/.installed-dev
	$(BIN)/python -m pytest -m "slow or deep" $(ARGS)

mlflow: .venv/.installed
	@echo "open http://127.0.0.1:5000/#/experiments/1/runs?workflowType=machine_learning"
	$(BIN)/mlflow ui --backend-store-uri sqlite:///$(STORE)/mlflow.db

clean:
	rm -rf .venv build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
	find abstractions artifacts pipelines solver tests -name __pycache__ -prune -exec rm -rf {} +
