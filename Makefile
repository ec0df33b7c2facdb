# Needs Python 3.11 or newer, git, make and a compiler; pip uses your own configuration.
# To work from a folder of wheels (`make wheelhouse` fills one):
#   export PIP_NO_INDEX=1 PIP_FIND_LINKS=$PWD/wheelhouse
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check
# Every file of these lists is held against its digest; they name all that is needed.
HASHED := --require-hashes --no-deps --no-build-isolation
# Ours cannot have a digest, and what it needs is there by then.
OURS := --no-deps --no-build-isolation -e .
CORE := $(VENV)/.core
DEV := $(VENV)/.dev
MODELS := $(VENV)/.models
# The list that `make wheelhouse` fetches: of `requirements/`.
LIST ?= core

# Hundreds of processes read what is compiled once, whatever the caller's shell says.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help dataset demo eval test test-growth test-drawn test-all mutants nightly check format docs release-check bench results gpu-slot wheelhouse lock hashes clean

help:
	@echo "make dataset     build JSONSchemaBench and instances into build/ (makes $(VENV) first)"
	@echo "make demo        llguidance and no engine on sample schemas"
	@echo "make eval        llguidance and no engine on 50 schemas, with the embedded model"
	@echo "make test        the fast tests: a few minutes"
	@echo "make test-drawn  these, the table of capabilities, and a tenth of the slow ones"
	@echo "make test-all    these, with branch coverage, and the slow ones: half an hour"
	@echo "make mutants     forty one-line mutants: how many do tests notice? Half an hour"
	@echo "make nightly     other people's programs, fuzzed readers, mutants: downloads, hours"
	@echo "make check       lint, types, layers, dependencies"
	@echo "make format      apply the formatter and the safe fixes"
	@echo "make results     run what an edition of results is made of, and publish it: says how long"
	@echo "make docs        the documents as a site, in build/site"
	@echo "make release-check  wheel and sdist, their metadata, the docs: a first upload but the upload"
	@echo "make bench       builds, instances and their reach, publishing, engines, models: one JSON object"
	@echo "make gpu-slot    what a machine with a GPU and no network needs to be measured; the command for it"
	@echo "make wheelhouse  every wheel an installation needs, in wheelhouse/"
	@echo "make lock        work out constraints.txt anew, and requirements/"
	@echo "make hashes      work out requirements/ anew: the digests of those versions"
	@echo "make clean       remove what make made"

dataset: $(CORE)
	$(BIN)/csbdata build --instances

demo: $(CORE)
	$(PIP) $(HASHED) -r requirements/eval.txt
	$(BIN)/csbdata demo

eval: $(MODELS)
	$(BIN)/csbdata eval --engine llguidance --engine none --limit 50

# A file's tests stay on one worker, so that shared fixtures are built once.
PYTEST := -m pytest -q -rs -n auto --dist loadfile --no-loadscope-reorder

test: $(DEV)
	$(BIN)/python $(COVERED) $(PYTEST) -m "not slow and not nightly"

# How cost grows with the size of a schema.
test-growth: $(DEV)
	$(BIN)/python -m tests.growth

# In one run, so that all is collected once; each commit draws another tenth.
test-drawn: $(DEV)
	$(BIN)/python $(PYTEST) -m "not nightly" --tenth $$(git rev-parse HEAD)

# The fast ones with branch coverage, worker processes included; a killed one leaves no file
# that could be combined. The slow ones without: to count lines doubles what they take.
test-all: COVERED := -m coverage run
test-all: $(DEV)
	$(BIN)/python -m coverage erase
	$(MAKE) test COVERED="$(COVERED)"
	$(BIN)/python -m coverage combine -q 2> /dev/null || true
	$(BIN)/python -m coverage report --include 'curation/*' --format total --fail-under 90
	$(BIN)/python -m coverage report
	$(BIN)/python $(PYTEST) -m "slow and not nightly"

# Forty one-line mutants of the product, drawn by the commit (tests/mutants.py).
mutants: $(DEV)
	$(BIN)/python -m tests.mutants

# lm_eval needs scikit-learn, nltk and some thirty more, so it gets its own environment.
DROP_IN := build/drop-in
INSPECT := build/inspect
LM_EVAL := 'lm_eval==0.4.13' 'datasets==5.2.0' 'jsonschema[format-nongpl]==4.26.0'
nightly: $(DEV)
	test -x $(DROP_IN)/bin/python || $(PYTHON) -m venv $(DROP_IN)
	$(DROP_IN)/bin/python -m pip install -qq --disable-pip-version-check $(LM_EVAL) -e '.[eval]'
	test -x $(INSPECT)/bin/python || $(PYTHON) -m venv $(INSPECT)
	$(INSPECT)/bin/python -m pip install -qq --disable-pip-version-check inspect_ai -e '.[eval]'
	CI=1 CSBDATA_LM_EVAL=$(DROP_IN)/bin/python CSBDATA_INSPECT=$(INSPECT)/bin/python $(BIN)/python -m pytest -q -rs -m nightly
	$(MAKE) mutants

check: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/deptry .

format: $(DEV)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The site's generator has an environment of its own. A link that leads nowhere fails.
SITE := build/docs-tools
SITE_TOOLS := 'mkdocs-material==9.8.2' 'twine==7.0.0'
$(SITE)/.done:
	$(PYTHON) -m venv $(SITE)
	$(SITE)/bin/python -m pip install -qq --disable-pip-version-check $(SITE_TOOLS)
	@touch $@

docs: $(DEV) $(SITE)/.done
	rm -rf build/docs && mkdir -p build/docs && cp -r docs/. build/docs
	cp -r results build/docs
	cp README.md build/docs/index.md
	cp CONTRIBUTING.md SECURITY.md NOTICE CITATION.cff build/docs
	sed -i -e 's|](docs/|](|g' -e 's|](\.\./|](|g' build/docs/*.md
	$(BIN)/python -m bench.reference build/docs
	$(SITE)/bin/mkdocs build -q --strict

# The version is that of the changelog's first release, and the tag is yours to set.
release-check: $(DEV) $(SITE)/.done docs
	rm -rf dist && $(BIN)/python -m hatchling build
	$(SITE)/bin/twine check --strict dist/*
	$(BIN)/python -m pytest -q -m "not nightly" tests/project/test_wheel.py tests/project/test_documents.py

bench: $(DEV)
	$(BIN)/python -m bench

# Ends with a dry run on the processor, without a network.
gpu-slot: $(DEV)
	$(BIN)/python -m bench.model.gpu_slot build/gpu-slot

# Killed at will, it continues; EDITION is the folder's name.
EDITION := 2026.11
RESULTS_DATA := build/JSONSchemaBench
results: $(DEV)
	$(BIN)/python -m bench.edition.run results/$(EDITION)/sample.txt --data $(RESULTS_DATA)
	$(BIN)/python -m bench.edition.fits $(RESULTS_DATA) results/$(EDITION)
	$(BIN)/csbdata results publish build/results/* --out results/$(EDITION)
	$(BIN)/python -m bench.edition.figures results/$(EDITION)
	$(BIN)/python -m bench.edition.core results/$(EDITION) $(RESULTS_DATA)
	# Once more: its card names the core.
	$(BIN)/csbdata results publish build/results/* --out results/$(EDITION)
	$(BIN)/python -m pytest -q --renew-golden tests/evaluation/results/test_published_edition.py

# The empty environment. Without build isolation the digests hold for the build
# backends too: ours, and setuptools for what comes as source.
$(CORE): pyproject.toml requirements/build.txt requirements/core.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "csbdata needs Python 3.11 or newer; say which: make PYTHON=...")'
	@echo "Installing into $(VENV), 0.7 GB: takes a minute or two"
	$(PYTHON) -m venv $(VENV)
	$(PIP) --require-hashes --no-deps -r requirements/build.txt
	$(PIP) $(HASHED) -r requirements/core.txt
	$(PIP) $(OURS)
	@touch $@

# torch has no digest here. Its version has two kinds of files, for processors alone and
# for GPUs, and the second kind wants some twenty packages that the first does not; which
# of them an index gives is not ours to say. What else it needs is there by then.
TORCH := -c constraints.txt torch

$(MODELS): $(CORE) requirements/models.txt
	@echo "Installing torch and transformers into $(VENV): takes some minutes"
	$(PIP) $(HASHED) -r requirements/models.txt
	$(PIP) $(TORCH)
	@touch $@

# Most modules of torch and of its neighbours are never imported, so none is compiled.
$(DEV): $(CORE) requirements/dev.txt
	@echo "Installing what tests need into $(VENV), torch among it: takes some minutes"
	$(PIP) --no-compile $(HASHED) -r requirements/dev.txt
	$(PIP) --no-compile $(TORCH)
	@touch $@

# `make wheelhouse LIST=dev` is enough to test without an index.
DOWNLOAD := $(BIN)/python -m pip download -qq --disable-pip-version-check -d wheelhouse
wheelhouse: $(CORE)
	$(DOWNLOAD) --require-hashes --no-deps -r requirements/build.txt
	$(DOWNLOAD) $(HASHED) -r requirements/$(LIST).txt
	$(if $(filter $(LIST),core),,$(DOWNLOAD) $(TORCH))
	$(BIN)/python -m pip wheel -qq --disable-pip-version-check --no-deps \
	  --no-build-isolation -w wheelhouse .

# Exact versions of everything, from an environment that holds nothing else.
lock:
	rm -rf build/lock
	$(PYTHON) -m venv build/lock
	build/lock/bin/python -m pip install -qq hatchling==1.33.0 editables setuptools
	build/lock/bin/python -m pip install -qq --no-build-isolation -e '.[dev,xgrammar]'
	{ echo "# Exact versions of everything, made by \`make lock\` on Python 3.11."; \
	  build/lock/bin/python -m pip freeze --exclude-editable; } > constraints.txt
	rm -rf build/lock
	$(MAKE) hashes

# The digests that the index has of these versions, for every system and machine.
COMPILE := build/lock/bin/uv pip compile -q --universal --generate-hashes \
  --python-version 3.11 --no-annotate --no-header -c constraints.txt
# torch and what only its files for GPUs want: see above.
UNHASHED := ^(torch|triton|nvidia-.*|cuda-.*)==
hashes:
	test -d build/lock || $(PYTHON) -m venv build/lock
	build/lock/bin/python -m pip install -qq --disable-pip-version-check uv==0.13.9
	mkdir -p requirements
	printf 'hatchling\neditables\nsetuptools\n' > build/lock/build.in
	$(COMPILE) build/lock/build.in -o build/lock/build.txt
	$(COMPILE) pyproject.toml --extra load -o build/lock/core.txt
	$(COMPILE) pyproject.toml --extra eval -o build/lock/eval.txt
	$(COMPILE) pyproject.toml --extra load --extra models -o build/lock/models.txt
	$(COMPILE) pyproject.toml --extra dev -o build/lock/dev.txt
	for list in build core eval models dev; do \
	  { echo "# The files of constraints.txt's versions, by \`make hashes\`."; \
	    awk '/^[^ ]/ { gone = /$(UNHASHED)/ } !gone' build/lock/$$list.txt; \
	  } > requirements/$$list.txt || exit 1; \
	done
	rm -rf build/lock

clean:
	rm -rf $(VENV) build dist wheelhouse .mypy_cache .pytest_cache .ruff_cache \
	  .hypothesis .import_linter_cache .coverage .coverage.*
