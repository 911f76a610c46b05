PYTHON ?= python3
VENV = .venv
BIN = $(VENV)/bin
CORPUS = corpora/spamassassin
DEMO = .demo/model.msgpack
HAM = --ham $(CORPUS)/ham.mbox.xz --ham $(CORPUS)/hard-ham.mbox.xz
SPAM = --spam $(CORPUS)/spam.mbox.xz
# What the caller set for other programs: with some of these neither Python nor pip works as meant.
unexport $(filter PYTHON% PIP_PREFIX PIP_TARGET PIP_USER,$(.VARIABLES))
export LC_ALL = C.UTF-8
.PHONY: help install env lock demo review screenshots film pictures test test-fast test-pythons checks lint golden man bench bench-serve bench-cluster accuracy peers charsets sorting ablation attacks growth soak fuzz dist dist-test first-hour release docs deb deb-test image image-test audit verify figures clean

help:  ## what can be made
	@grep -hE '^[a-z-]+:.*##' Makefile | sed 's/:.*##/\t/' | expand -t 15

demo: install  ## from nothing to a trained model, a verdict and the table
	@echo '$$ spamnb train ham spam'
	@$(BIN)/spamnb train --fresh --model $(DEMO) $(HAM) $(SPAM)
	@echo; echo '$$ spamnb classify < message'
	@printf 'Subject: make money fast\n\nClick here to order now, risk free! Earn thousands of dollars a month from home,\nor your money back.\n' | $(BIN)/spamnb classify --model $(DEMO)
	@printf 'Subject: Re: kernel patch\nIn-Reply-To: <1@example.org>\n\nI applied the patch and it compiles.\n' | $(BIN)/spamnb classify --model $(DEMO)
	@echo; echo '$$ spamnb evaluate ham spam'
	@$(BIN)/spamnb evaluate $(HAM) $(SPAM)

REVIEW = .demo/review
review: env  ## the review page on the demo's corpus, as if it had arrived within a month: ARGS="--no-browser"
	@$(BIN)/python bench/month.py $(REVIEW)
	@$(BIN)/spamnb review --model $(REVIEW)/model.msgpack --history-folder $(REVIEW)/history $(ARGS)

screenshots: env  ## the pictures of docs/review.md; needs Chromium
	@$(BIN)/python bench/month.py $(REVIEW)
	PYTHONPATH=tests $(BIN)/python tests/review/screenshots.py $(REVIEW)

pictures: env  ## the pictures of README that are drawn, by the model of `make demo` and the figures on record
	$(BIN)/python bench/pictures.py

film: env  ## docs/first-fifteen-minutes.md, from a new installation; needs root, pipx, Dovecot and Chromium
	PYTHONPATH=tests $(BIN)/python tests/imap/film.py

test: env  ## all tests
	$(BIN)/python -m pytest -n $$(($$($(BIN)/python -c "import os; print(os.cpu_count())") + 2)) --dist worksteal  # many wait for other programs; each process collects for 5 s

test-fast: env  ## the tests that need nothing but Python, in under a minute
	$(BIN)/python -m pytest -n auto --dist worksteal -m 'not slow'

test-pythons:  ## the fast tests on every Python from 3.11 on that is installed
	@for minor in 3.11 3.12 3.13 3.14; do export PYENV_VERSION=$$minor; \
		if python$$minor -c '' 2>/dev/null; then echo "Python $$minor"; \
		$(MAKE) -s test-fast VENV=.venv-$$minor PYTHON=python$$minor || failed=1; fi; done; test -z "$$failed"

checks: env  ## of how this is made: requirements, wheels, the image, figures on the pages, the benches
	$(BIN)/python -m pytest -n auto -o python_files='check_*.py' tests/checks

lint: env  ## style, types, which module may import which, and the budget of lines and options
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --config-file tests/mypy.ini
	$(BIN)/lint-imports --no-cache
	$(BIN)/python .ci/budget

golden: env  ## rewrite the expected tokens of tests/golden; review the difference
	$(BIN)/python tests/golden/regenerate.py

man: env  ## the manual pages below man/ and docs/commands.md, from the commands' help and docs/; review the difference
	$(BIN)/python man/generate.py

bench: env  ## speed and memory, beside bogofilter
	$(BIN)/python bench/speed.py $(ARGS)

bench-serve: env  ## the server's speed, beside bogofilter and spamd
	$(BIN)/python bench/serve.py $(ARGS)

bench-cluster: env  ## workers of a cluster on this machine, beside its threads
	$(BIN)/python bench/cluster.py $(ARGS)

accuracy: env  ## accuracy, beside the peers that are installed
	$(BIN)/python bench/accuracy.py $(ARGS)

peers: env  ## every other filter in a bare root, on the same mail (debootstrap, as root, half an hour): ARGS="--corpus NAME=HAM,SPAM"
	@PYTHONPATH=tests $(BIN)/python -m debian.peers $(ARGS)

charsets: env  ## how often undeclared text is read rightly, beside the detectors that are installed
	$(BIN)/python bench/charsets.py

sorting: env  ## mailing lists as folders that mail is sorted into: ARGS="HAM SPAM" for other mail
	$(BIN)/python bench/sorting.py $(or $(ARGS),$(CORPUS)/ham.mbox.xz $(CORPUS)/spam.mbox.xz)

ablation: env  ## what each setting of the default is worth, and each rule of the tokenizer: ARGS="--corpus NAME=HAM,SPAM"
	$(BIN)/python bench/ablation.py $(ARGS)
	$(BIN)/python bench/trial.py $(ARGS)

attacks: env  ## known attacks, and what they gain
	$(BIN)/python bench/attacks.py $(ARGS)

growth: env  ## time against size, for hostile mail of every kind
	PYTHONPATH=tests $(BIN)/python -m fuzz.growth $(ARGS)

soak: env  ## kills, crowds, failing and full disks, hostile clients, new examples, long forms of tests: ARGS="--kills 500 --minutes 60"
	PYTHONPATH=tests $(BIN)/python -m faults.soak $(ARGS)

fuzz: env  ## search for bytes that break something: ARGS="--seconds 600 words markup"
	PYTHONPATH=tests $(BIN)/python -m fuzz.run $(ARGS)

# As old as the last commit; of a source without one, as old as hatchling says.
dist release: export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 1580601600)
# Both, into the folder $(1).
BUILD = $(CURDIR)/$(BIN)/python -m hatchling build -d $(1)
BUILD_ALL = $(BUILD) -t sdist && $(BUILD) -t wheel
dist: env  ## in dist/ the wheel and the source, built again from the source and compared
	rm -rf dist build/made build/again build/source && mkdir -p build/source
	$(BIN)/python -m pip install -q --group dist
	$(call BUILD_ALL,build/made)
	tar xzf build/made/*.tar.gz -C build/source
	cd build/source/* && umask 077 && export TZ=UTC-9 && $(call BUILD_ALL,$(CURDIR)/build/again)
	diff -r build/made build/again
	PATH=$(CURDIR)/$(BIN):$$PATH auditwheel repair --strip -w dist build/made/*-linux_*.whl
	cp build/made/*.tar.gz dist
	test -z "$$(find dist -size +4M)"
	@cd dist && sha256sum *.whl *.tar.gz

dist-test:  ## what is in dist/ installed and used, on every Python from 3.11 on: ARGS=3.12
	$(PYTHON) tests/dists.py $(ARGS)

first-hour: env  ## what is in dist/ installed in a bare root of Debian, where all of README is done (debootstrap, as root, some minutes)
	PYTHONPATH=tests $(BIN)/python -m debian.first_hour

release: env  ## all checks, all files of a release in dist/, signed, and the tag: VERSION=1.2.3 ARGS="--key ID", ARGS=--dry-run
	.ci/release $(VERSION) $(ARGS)

docs: env  ## the documentation as one site: python3 -m http.server -d build/site
	$(BIN)/python -m pip install -q --group docs
	rm -rf build/pages && mkdir -p build/pages
	tar c *.md */README.md LICENSE docs | tar x -C build/pages
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build -q --strict

# Debian's Cython is too old (0.29 in Debian 12, 3.0 in 13): the source that is built has the core in C already.
DEB = build/deb/spamnb
deb: export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 1580601600)
deb: env  ## the Debian package in build/deb, and what lintian says of it
	rm -rf build/deb && mkdir -p $(DEB)
	cp -R pyproject.toml hatch_build.py README.md SECURITY.md CHANGELOG.md LICENSE debian docs man spamnb systemd thunderbird $(DEB)
	find $(DEB) \( -name '*.so' -o -name __pycache__ \) -prune -exec rm -r {} +
	$(BIN)/python -c 'import pathlib, hatch_build; hatch_build.write_c(pathlib.Path("$(DEB)"))'
	$(BIN)/python debian/bundle.py $(DEB)/bundled
	printf 'spamnb (%s) unstable; urgency=low\n\n  * CHANGELOG.md says what is new.\n\n -- %s  %s\n' \
		"$$($(BIN)/python -c 'import spamnb; print(spamnb.__version__)')" \
		"$$(sed -n 's/^Maintainer: //p' debian/control)" "$$(LC_ALL=C date -u -R -d @$$SOURCE_DATE_EPOCH)" > $(DEB)/debian/changelog
	cd $(DEB) && PATH=/usr/sbin:/usr/bin:/sbin:/bin dpkg-buildpackage -us -uc -b
	lintian --fail-on error build/deb/*.changes

deb-test: deb  ## the package in a fresh root of Debian (debootstrap, systemd-nspawn, as root, some minutes)
	PYTHONPATH=tests $(BIN)/python -m debian.fresh_root build/deb/spamnb_*.deb

image:  ## the image of the Containerfile, as localhost/spamnb: ARGS="--build-arg BASE=docker.io/library/debian:trixie-slim"
	podman build --tag localhost/spamnb $(ARGS) .

image-test: env  ## the image built on a base made here, and used by the services of compose.yaml (podman, as root, some minutes)
	$(BIN)/python -m pip install -q --group image
	PYTHONPATH=tests $(BIN)/python -m debian.image

audit: env  ## known vulnerabilities of what is installed
	.ci/audit

verify: env  ## all of these checks, with a page build/verify.html; goes on where it was: ARGS="--again test soak-kills"
	$(BIN)/python bench/verify.py $(ARGS)

figures: env  ## put on record what `make verify` measured, and write the figures and the chart of the pages again
	$(BIN)/python bench/figures.py
	$(BIN)/python bench/pictures.py chart

install: $(VENV)/.installed  ## what spamnb needs to run, and the core compiled again where its source has changed
	@$(BIN)/python hatch_build.py

# No setuptools: its .pth file is read at every start of Python.
$(VENV)/.installed: pyproject.toml requirements.txt
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install -q --require-hashes -r requirements.txt
	$(BIN)/python -m pip uninstall -q -y setuptools
	@command -v $${CC:-cc} >/dev/null || { echo "no C compiler here: taking that of PyPI's ziglang, 400 MB"; \
		$(BIN)/python -m pip install -q --group compiler; }
	@$(BIN)/python hatch_build.py  # pip would not show how far it is
	$(BIN)/python -m pip install -q --no-deps --no-build-isolation -e .
	@touch $@

env: install $(VENV)/.ready  ## all that tests, checks and figures need beside it

$(VENV)/.ready: $(VENV)/.installed requirements-dev.txt
	$(BIN)/python -m pip install -q --require-hashes -r requirements-dev.txt
	@touch $@

lock: env  ## the versions that are installed, again where pyproject.toml asks for others: ARGS=--upgrade for all
	$(BIN)/python -m pip install -q --group lock
	$(call PIN,requirements.txt,--group build)
	$(call PIN,requirements-dev.txt,--all-extras --group dev --constraints requirements.txt)
PIN = $(BIN)/uv pip compile -q pyproject.toml --universal --python-version 3.11 --generate-hashes --no-header \
	--no-annotate -o $(1) $(2) $(ARGS)

clean:  ## remove what was made
	find spamnb -name '*.so' -delete
	rm -rf .venv* .audit .demo .fuzz dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
