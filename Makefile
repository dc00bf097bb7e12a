# Needs only make and a python3 between 3.10 and 3.13. Everything else goes into .venv, pinned by requirements-dev.txt.
# Another interpreter: make test PYTHON=/path/to/python3

SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
PROCESSES ?= 2
# Of `make judge`: how many random programs in each generation of Keras, and the seed of the first.
PROGRAMS ?= 2000
SEED ?= 0

# The first interpreter that the pinned TensorFlow has wheels for.
SUITS := -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11 python3.10; do \
	$$python $(SUITS) && echo $$python && break; \
	done)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install demo test judge lint format docs lock clean distclean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "%-10s %s\n", $$1, $$2 }' Makefile

# The stamp is written last, so a set-up that was cut short is taken up again. A .venv whose interpreter has gone, or is too
# old, is made anew.
$(INSTALLED): pyproject.toml requirements-dev.txt
	@test -n "$(PYTHON)" || { echo "mplint's set-up needs Python 3.10 to 3.13: make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(BIN)/python $(SUITS) || rm -rf $(VENV)
	@echo "Setting up $(VENV) (once; with TensorFlow, so it takes some minutes) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

install: $(INSTALLED) ## set up .venv

demo: $(INSTALLED) ## find, rewrite and prove the faults of examples/digits, in Keras 2 and in Keras 3
	@$(BIN)/python tools/demo.py

test: $(INSTALLED) ## run every check: tests, ruff, mypy, import-linter
	@$(BIN)/python -m pytest -n $(PROCESSES) --dist loadgroup

judge: $(INSTALLED) ## let Python, TensorFlow and keras.applications judge mplint (PROGRAMS=2000 SEED=0)
	@$(BIN)/python -m tests.generator.language --programs $(PROGRAMS) --seed $(SEED)
	@$(BIN)/python -m tests.generator --programs $(PROGRAMS) --seed $(SEED)
	@$(BIN)/python -m tests.loops --seed $(SEED)
	@$(BIN)/python -m tools.judge_applications

lint: $(INSTALLED) ## run ruff, mypy and import-linter only
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: $(INSTALLED) ## sort imports and format
	@$(BIN)/ruff check --select I --fix .
	@$(BIN)/ruff format .

docs: $(INSTALLED) ## write docs/rules from the rules' docstrings
	@$(BIN)/python tools/make_docs.py

lock: $(INSTALLED) ## pin requirements-dev.txt anew from pyproject.toml
	@$(BIN)/python tools/lock.py

clean: ## remove what builds and tools leave behind, but not .venv
	@rm -rf build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .mplint_cache
	@find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

distclean: clean ## remove .venv too
	@rm -rf $(VENV)
