# Everything runs in a virtual environment that this file makes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: audit mutants demo test lint bench-speed bench-kmeans bench-mixtures bench-morse bench-modes clean

demo: $(VENV)/knoll
	$(BIN)/knoll demo --out demo

test: $(VENV)/dev lint
	$(BIN)/python -m pytest -n 2

lint: $(VENV)/dev
	$(BIN)/ruff check src tests benchmarks tools
	$(BIN)/ruff format --check src tests benchmarks tools
	$(BIN)/mypy
	$(BIN)/lint-imports

bench-speed: $(VENV)/dev
	$(BIN)/python benchmarks/speed.py $(ARGS)

bench-kmeans: $(VENV)/dev
	$(BIN)/python benchmarks/kmeans.py $(ARGS)

bench-modes: $(VENV)/dev
	$(BIN)/python benchmarks/modes.py $(ARGS)

bench-morse: $(VENV)/dev
	$(BIN)/python benchmarks/morse.py $(ARGS)

bench-mixtures: $(VENV)/dev
	$(BIN)/python benchmarks/mixtures.py $(ARGS)

audit: $(VENV)/dev
	$(BIN)/python benchmarks/audit.py $(ARGS)

mutants: $(VENV)/dev
	$(BIN)/python benchmarks/mutants.py $(ARGS)

$(VENV)/knoll: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/dev: $(VENV)/knoll
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) demo out build
