# Everything runs in a virtual environment that this file makes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: audit mutants tables demo test lint bench-speed bench-kmeans bench-mixtures bench-morse bench-modes bench-diagnostics bench-bounds clean

demo: $(VENV)/knoll
	$(BIN)/knoll demo --out demo

test: $(VENV)/dev lint
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2

lint: $(VENV)/dev
	$(BIN)/ruff check src tests benchmarks tools
	$(BIN)/ruff format --check src tests benchmarks tools
	$(BIN)/mypy
	$(BIN)/lint-imports

bench-speed: $(VENV)/dev
	$(BIN)/python -m benchmarks.speed.run $(ARGS)

bench-kmeans: $(VENV)/dev
	$(BIN)/python -m benchmarks.kmeans.run $(ARGS)

bench-modes: $(VENV)/dev
	$(BIN)/python -m benchmarks.modes.run $(ARGS)

bench-morse: $(VENV)/dev
	$(BIN)/python -m benchmarks.morse.run $(ARGS)

bench-mixtures: $(VENV)/dev
	$(BIN)/python -m benchmarks.mixtures.run $(ARGS)

bench-diagnostics: $(VENV)/dev
	$(BIN)/python -m benchmarks.diagnostics.run $(ARGS)
	$(BIN)/python -m benchmarks.diagnostics.quality $(ARGS)
bench-bounds: $(VENV)/dev
	$(BIN)/python -m benchmarks.bounds.run $(ARGS)

audit: $(VENV)/dev
	$(BIN)/python -m tools.audit $(ARGS)

mutants: $(VENV)/dev
	$(BIN)/python -m tools.mutants $(ARGS)

tables: $(VENV)/dev
	$(BIN)/python -m tools.tables

$(VENV)/knoll: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/dev: $(VENV)/knoll
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) demo out build
