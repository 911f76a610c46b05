PYTHON ?= python3
BIN = .venv/bin
CORPUS = corpora/spamassassin
DEMO = .demo/model.msgpack
HAM = --ham $(CORPUS)/ham.mbox.xz --ham $(CORPUS)/hard-ham.mbox.xz
SPAM = --spam $(CORPUS)/spam.mbox.xz
.PHONY: help env demo test lint golden bench accuracy ablation attacks clean

help:  ## what can be made
	@grep -hE '^[a-z]+:.*##' Makefile | sed 's/:.*##/\t/' | expand -t 12

demo: env  ## from nothing to a trained model, a verdict and the table
	@echo '$$ spamnb train ham spam'
	@$(BIN)/spamnb train --fresh --model $(DEMO) $(HAM) $(SPAM)
	@echo; echo '$$ spamnb classify < message'
	@printf 'Subject: make money fast\n\nClick here to order now, risk free!\n' | $(BIN)/spamnb classify --model $(DEMO)
	@printf 'Subject: Re: kernel patch\nIn-Reply-To: <1@example.org>\n\nI applied the patch and it compiles.\n' | $(BIN)/spamnb classify --model $(DEMO)
	@echo; echo '$$ spamnb evaluate ham spam'
	@$(BIN)/spamnb evaluate $(HAM) $(SPAM)

test: env  ## all tests
	$(BIN)/python -m pytest -n auto --dist worksteal

lint: env  ## style, types, and which module may import which
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

golden: env  ## rewrite the expected tokens of tests/golden; review the difference
	$(BIN)/python tests/golden/regenerate.py

bench: env  ## speed and memory, beside the peers that are installed
	$(BIN)/python bench/speed.py $(ARGS)

accuracy: env  ## accuracy, beside the peers that are installed
	$(BIN)/python bench/accuracy.py $(ARGS)

ablation: env  ## what each rule of the default is worth
	$(BIN)/python bench/ablation.py $(ARGS)

attacks: env  ## known attacks, and what they gain
	$(BIN)/python bench/attacks.py $(ARGS)

env: .venv/.ready

# A current pip first: the start scripts of old ones import `re`, 9 ms at every delivery. And no
# setuptools: the .pth file it leaves in old environments is read at every start.
.venv/.ready: pyproject.toml
	$(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install -q --upgrade pip
	$(BIN)/python -m pip uninstall -q -y setuptools
	$(BIN)/python -m pip install -q -e '.[languages]' --group dev
	@touch $@

clean:  ## remove what was made
	rm -rf .venv .demo dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
