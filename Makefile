VENV ?= .venv
BIN := $(abspath $(VENV))/bin

.PHONY: demo test test-model lint bench setup clean

demo: setup  ## real model, real training, on a CPU in minutes
	PATH="$(BIN):$$PATH" pipelines/demo.sh

# The models of these tests are so small that threads only wait for each other.
test: setup  ## all tests that need no real model
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest

test-model: setup  ## end to end with SmolLM2-135M, about 15 minutes on 2 cores
	PATH="$(BIN):$$PATH" $(BIN)/python -m pytest -m model

lint: setup
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

bench: setup
	for file in benchmarks/*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml install.sh
	./install.sh $(VENV)

clean:
	rm -rf $(VENV) models runs
