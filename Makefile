.PHONY: help setup demo test browser lint docs package bench clean
.DEFAULT_GOAL := help

# The first interpreter that runs; to choose another: make PYTHON=/path/to/python demo
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3; do \
	$$p -c '' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt

help:
	@echo "make demo    optimise a gearbox whose bad designs return nothing"
	@echo "make setup   .venv with everything for development"
	@echo "make test    run the tests"
	@echo "make lint    formatting, style and types"
	@echo "make docs    build the documentation into site/; warnings are errors"
	@echo "make package  build the wheel and try every extra in an empty environment"
	@echo "make bench   seconds per proposal"
	@echo "make clean   remove what the other targets made"

setup: .venv/dev

demo: .venv/demo
	@$(BIN)/becbo demo

test: .venv/dev browser
	@$(BIN)/python -m pytest -q -rs -n auto

# The tests of the web page want a Chromium; without one they are skipped and say so.
browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null \
	|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "installing Chromium" \
	&& apt-get -qq update && apt-get -qq -y install chromium >/dev/null 2>&1; } \
	|| echo "no Chromium: tests in the browser will be skipped"

lint: .venv/dev
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy

docs: .venv/docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build -q
	@echo "site/index.html"

package: .venv/dev
	@$(BIN)/python tools/package.py

bench: .venv/demo
	@$(BIN)/python benchmarks/speed.py

clean:
	rm -rf .venv becbo-demo build dist site src/*.egg-info .pytest_cache .hypothesis .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Stamps: what is installed in .venv. A changed pyproject.toml or constraints.txt installs again.
.venv/made:
	@$(PYTHON) -m venv .venv
	@touch $@

.venv/demo: .venv/made pyproject.toml constraints.txt
	@echo "setting up .venv (about a minute, once)"
	@$(INSTALL) -e ".[bench]"
	@touch $@

.venv/dev: .venv/made pyproject.toml constraints.txt
	@echo "setting up .venv for development (a few minutes, once)"
	@$(INSTALL) -e ".[dev]"
	@touch $@ .venv/demo

.venv/docs: .venv/made pyproject.toml constraints.txt
	@echo "setting up .venv for the documentation"
	@$(INSTALL) -e ".[docs]"
	@touch $@
