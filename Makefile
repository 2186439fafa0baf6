# Each target sets up .venv by itself, and only anew when pyproject.toml or constraints.txt has changed.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow lint format bench clean

help: ## show what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

demo: $(READY) ## embed the embedded graph in five ways: a table of accuracies, and a picture in demo/
	@$(BIN)/graphprox demo --out demo

test: $(READY) ## run the tests, with coverage
	$(BIN)/python -m pytest -m "not slow" -n 2 --dist loadfile --cov --cov-report=term

test-slow: $(READY) ## run the tests that take longer than the suite may
	$(BIN)/python -m pytest -m slow

lint: $(READY) ## check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY) ## mend what style can be mended
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY) ## measure speed and memory against a named reference
	$(BIN)/python -m benchmarks

clean: ## remove what the other targets made
	rm -rf .venv .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis demo dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "graphprox needs Python 3.11 or later; got " + sys.version.split()[0] + ": set PYTHON=python3.11")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@
