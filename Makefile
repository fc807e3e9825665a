# The commands a newcomer has to know: `make help` lists them. PYTHON is any Python from 3.11 on.
PYTHON ?= python3
# pytest's processes; each of them computes with one thread
JOBS ?= 2
READY := .venv/.ready
export PATH := $(CURDIR)/.venv/bin:$(PATH)

.DEFAULT_GOAL := help
.PHONY: help paper published test lint bench

help: ## what there is to make
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

paper: $(READY) ## bring every table and figure up to date
	@scripts/paper

published: $(READY) ## the same from the paper's own weights: CHECKPOINT=path (published/README.md)
	@scripts/published

test: $(READY) ## run the tests
	@OMP_NUM_THREADS=1 pytest -n $(JOBS) --dist loadfile

lint: $(READY) ## style, types, notebooks without outputs
	@ruff check
	@ruff format --check
	@pyright
	@scripts/notebooks-stripped

bench: $(READY) ## time the training; writes benchmarks/training.md
	@PYTHONPATH=tests python benchmarks/training.py

$(READY): requirements.lock
	@scripts/environment '$(PYTHON)'
