# Everything runs in a virtual environment that this file makes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LOCK := $(if $(LOCKED),--constraint constraints.txt)

.PHONY: docs wheel lock audit mutants tables demo test lint bench-speed bench-engines bench-kmeans bench-mixtures bench-morse bench-modes bench-diagnostics bench-bounds bench-mixed bench-profile bench-small bench-topics clean

demo: $(VENV)/knoll
	$(BIN)/knoll demo --out demo

test: $(VENV)/dev lint
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadgroup

lint: $(VENV)/dev
	$(BIN)/ruff check src tests benchmarks tools examples
	$(BIN)/ruff format --check src tests benchmarks tools examples
	$(BIN)/mypy
	$(BIN)/codespell -L nd,falso src docs/*.md docs/guides examples *.md
	$(BIN)/lint-imports

bench-speed: $(VENV)/dev
	$(BIN)/python -m benchmarks.speed.run $(ARGS)

bench-engines: $(VENV)/dev
	$(BIN)/python -m benchmarks.engines.run $(ARGS)

bench-kmeans: $(VENV)/dev
	$(BIN)/python -m benchmarks.kmeans.run $(ARGS)

bench-modes: $(VENV)/dev
	$(BIN)/python -m benchmarks.modes.run $(ARGS)

bench-morse: $(VENV)/dev
	$(BIN)/python -m benchmarks.morse.run $(ARGS)

bench-mixtures: $(VENV)/dev
	$(BIN)/python -m benchmarks.mixtures.run $(ARGS)

bench-profile: $(VENV)/dev
	$(BIN)/python -m benchmarks.profile.run $(ARGS)

bench-diagnostics: $(VENV)/dev
	$(BIN)/python -m benchmarks.diagnostics.run $(ARGS)
	$(BIN)/python -m benchmarks.diagnostics.quality $(ARGS)
bench-bounds: $(VENV)/dev
	$(BIN)/python -m benchmarks.bounds.run $(ARGS)

bench-mixed: $(VENV)/dev
	$(BIN)/python -m benchmarks.mixed.run $(ARGS)

bench-small: $(VENV)/dev
	$(BIN)/python -m benchmarks.small.run $(ARGS)

bench-topics: $(VENV)/dev
	$(BIN)/python -m benchmarks.topics.run $(ARGS)

audit: $(VENV)/dev
	$(BIN)/python -m tools.audit $(ARGS)

mutants: $(VENV)/dev
	$(BIN)/python -m tools.mutants $(ARGS)

docs: $(VENV)/docs
	$(BIN)/python -m tools.reference
	$(BIN)/python -W ignore::DeprecationWarning -W ignore::PendingDeprecationWarning -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

wheel: $(VENV)/knoll
	rm -rf build dist $(VENV)/empty
	$(BIN)/python -m pip install --quiet build
	$(BIN)/python -m build --outdir dist .
	$(PYTHON) -m venv $(VENV)/empty
	$(VENV)/empty/bin/python -m pip install --quiet dist/*.whl
	cd dist && ../$(VENV)/empty/bin/knoll --version && ../$(VENV)/empty/bin/knoll demo --out demo
	rm -rf build dist/demo

lock: $(VENV)/dev
	echo "# The versions with which development was last tested, on Python 3.11: made by \`make lock\`, used by \`make test LOCKED=1\`." > constraints.txt
	$(BIN)/python -m pip freeze --exclude-editable >> constraints.txt

tables: $(VENV)/dev
	$(BIN)/python -m tools.tables

$(VENV)/knoll: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet $(LOCK) --editable ".[plots]"
	touch $@

$(VENV)/dev: $(VENV)/knoll
	$(BIN)/python -m pip install --quiet $(LOCK) --editable ".[dev]"
	touch $@

$(VENV)/docs: $(VENV)/knoll
	$(BIN)/python -m pip install --quiet $(LOCK) --editable ".[docs]"
	touch $@

clean:
	rm -rf $(VENV) demo out build docs/_build docs/api docs/gallery docs/results docs/reference.md
