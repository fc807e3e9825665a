# The commands a newcomer has to know: `make help` lists them. PYTHON is any Python from 3.11 on.
PYTHON ?= python3
# pytest's processes; each of them computes with one thread
JOBS ?= 2
# what opens the report; empty: nothing
OPEN ?= browser
# torch for the CPU or for CUDA (cpu, cuda); empty: as .venv has it, at first cpu
TORCH ?=
READY := .venv/.ready
REMOTES := .venv/.remotes
export PATH := $(CURDIR)/.venv/bin:$(PATH)
# ops, report and studies are imported from the top, and nothing from where the user has Python look or from another
# environment that is active.
export PYTHONPATH := $(CURDIR):$(CURDIR)/src
unexport PYTHONHOME PYTHONWARNINGS NPY_ENABLE_CPU_FEATURES CDPATH VIRTUAL_ENV
# Nor is another repository meant, as tools for dotfiles name theirs; nor are paths, which Emacs has git take to the letter.
unexport GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_COMMON_DIR GIT_OBJECT_DIRECTORY
unexport GIT_LITERAL_PATHSPECS GIT_GLOB_PATHSPECS GIT_NOGLOB_PATHSPECS GIT_ICASE_PATHSPECS
# What a cluster has each bash read first may print, or fail; options of a bash that called may end it.
unexport BASH_ENV SHELLOPTS
# Python reads the path of src in the encoding of the locale, and C has none for a path that is not ASCII.
ifneq ($(filter C POSIX,$(or $(LC_ALL),$(LC_CTYPE),$(LANG),C)),)
export LC_ALL := C.UTF-8
endif

# DVC asks for the user's name, and a container may have none for the number of its user.
ifeq ($(LOGNAME)$(USER),)
export LOGNAME := user
endif

.DEFAULT_GOAL := help
.PHONY: here help paper studies report figure plan grid back published verify pack merge deposit test lint bench

help: ## what there is to make
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

paper: $(READY) ## bring every table and figure up to date; GO=1: even if it trains for long
	@python -m ops.paper

studies: $(READY) ## the same, and what the studies make of it
	@python -m ops.paper studies

report: $(READY) ## the same, and the report over it in your browser (OPEN= for none)
	@python -m ops.paper studies report
	@python ops/scripts/report.py '$(OPEN)'

figure: $(READY) ## draw one figure without DVC, into preview/: F=fig03
	@python -m ops.preview $(F)

plan: $(READY) ## what would run, and how long its trainings take: SET='n=35 variant=quick', STUDIES=1
	@python -m ops.plan

grid: $(READY) ## train and measure runs, many at once: RUNS='n210-s1 …', ON=slurm ARGS='--partition=…'
	@python -m ops.grid.grid

back: $(READY) ## the published state again, after any experiment
	@python -m ops.back

published: $(READY) ## the same from the paper's own weights: CHECKPOINT=path (studies/published/weights/README.md)
	@python -m ops.published

verify: $(READY) ## make again what the locks name, and compare; SAMPLE=100: of what takes long every run, not a tenth
	@python -m ops.verify

pack: $(READY) ## what the locks name, into the packs by which git has it, and what pages show of it into gallery/
	@python -m ops.packs write
	@python -m ops.gallery

merge: $(READY) ## after a git merge that failed: locks, packs and the list of runs have what either side has
	@python -m ops.merge

deposit: $(READY) ## a folder for an archive that gives DOIs, from which all of it can be made again
	@python -m ops.deposit

test: $(if $(ALL),$(REMOTES),$(READY)) ## run the tests; ALL=1: those too that take long, or need SLURM, a browser, qemu
	@echo 'Tests of the library, of the pipeline by DVC itself, of the pages, of each study$(if $(ALL),,; not, without ALL=1, what takes long or needs SLURM, a browser, qemu)'
	@OMP_NUM_THREADS=1 pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder $(if $(ALL),,-m 'not slow')

lint: $(READY) ## style, types, notebooks without outputs
	@ruff check
	@ruff format --check
	@pyright
	@nbstripout --verify $(wildcard notebooks/*.ipynb report/notebooks/*.ipynb studies/*/notebooks/*.ipynb)

bench: $(READY) ## time the training; writes benchmarks/training.md, and gpu.md where there is a GPU
	@python benchmarks/training.py

ifneq ($(TORCH),)
ifneq ($(TORCH),$(shell cat $(READY) 2>/dev/null))
.PHONY: $(READY)
endif
endif

# The commands of .venv name its place and its Python: where one is another it is built again.
ifneq ($(wildcard .venv/pyvenv.cfg),)
ifneq ($(shell sh ops/scripts/fits && echo yes),yes)
.PHONY: $(READY)
endif
endif

here:
	@sh ops/scripts/here $(MAKECMDGOALS)

$(READY): requirements.lock requirements-cpu.lock requirements-torch.lock requirements-uv.lock | here
	@bash ops/scripts/environment '$(PYTHON)' '$(TORCH)'

$(REMOTES): requirements-remotes.lock $(READY)
	@echo 'client and server of a remote …'
	@.venv/bin/python ops/scripts/install.py --no-deps --no-build-isolation --require-hashes --requirement $<
	@touch $@
