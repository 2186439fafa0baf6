# Each target sets up .venv by itself, and updates it only when pyproject.toml or constraints.txt has changed.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.DEFAULT_GOAL := help
.PHONY: help demo test coverage test-slow lint format docs docs-serve wheel wheel-test bench bench-scale clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

demo: $(READY) ## embed the built-in graph in six ways: a table of accuracies, and a figure in demo/
	@$(BIN)/graphprox demo --out demo

PYTEST := $(BIN)/python -m pytest -m "not slow" -n 2 --dist loadfile

test: $(READY) ## run the tests
	$(PYTEST)

coverage: $(READY) ## run the tests, and list the lines that they do not reach
	$(PYTEST) --cov --cov-report=term

test-slow: $(READY) ## run the slow tests
	$(BIN)/python -m pytest -m slow

lint: $(READY) ## check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY) ## fix style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(READY) ## build the documentation site in site/; warnings are errors
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

docs-serve: $(READY) ## serve the documentation site, and rebuild it on every change
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve

wheel: $(READY) ## build the sdist and the wheel in dist/
	rm -rf dist
	PIP_CONSTRAINT=$(CURDIR)/constraints.txt $(BIN)/python -m build --outdir dist

wheel-test: wheel ## install the wheel alone into an empty environment, and run the demo and a smoke test there
	PYTHON=$(PYTHON) .ci/wheel-test

bench: $(READY) ## measure speed and memory against a named reference
	$(BIN)/python -m benchmarks

bench-scale: $(READY) ## measure graphs of up to ten million nodes, and several processes; takes hours
	$(BIN)/python -m benchmarks scale large_scale
	$(BIN)/python -m benchmarks.processes measure
	$(BIN)/python -m benchmarks.processes update
	$(BIN)/python -m benchmarks.cost_model measure
	$(BIN)/python -m benchmarks.cost_model update

clean: ## remove everything the other targets made
	rm -rf .venv .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis demo dist site
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "graphprox needs Python 3.11 or later; got " + sys.version.split()[0] + ": set PYTHON=python3.11")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@
