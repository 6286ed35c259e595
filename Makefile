# `make deck` and `make test` need Python 3.10 or later and nothing else; each sets up its own .venv first.

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.10 python; do \
	if $$p -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then echo $$p; break; fi; done)
VENV := .venv
BIN := $(VENV)/bin
RUN := $(BIN)/python

.DEFAULT_GOAL := help
.PHONY: help deck test check lock pictures soak bench clean

help: ## show this list
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' Makefile | expand -t 16

deck: $(VENV)/.deck ## set up, and build the deck from cards/
	@$(RUN) build.py

test: $(VENV)/.dev ## set up, and run lint, type check and all tests
	@$(MAKE) --no-print-directory check
	@echo "Tests:"
	@$(RUN) -m pytest -q -n auto --dist worksteal

check: $(VENV)/.dev ## only lint and type check
	@$(RUN) -m ruff check . && $(RUN) -m ruff format --check . && $(RUN) -m mypy
	@echo "Lint, format and types are fine."

soak: $(VENV)/.dev ## thousands of random histories against the real Anki (SEQUENCES=3000)
	@LADDERDECK_SEQUENCES=$${SEQUENCES:-3000} $(RUN) -m pytest -q -n auto tests/test_histories.py

bench: $(VENV)/.dev ## time it all, beside genanki and other exporters (SIZES=1000,10000 PARTS=startup,builds)
	@PYTHONPATH=src:tests $(RUN) -m bench $${SIZES:+--sizes "$$SIZES"} $${PARTS:+--parts "$$PARTS"} $${BENCH}

pictures: $(VENV)/.dev ## take the pictures in docs/ anew, with Chromium
	@$(RUN) tools/pictures.py

lock: $(VENV)/.made ## renew the lock files from pyproject.toml
	@$(RUN) -m pip install --quiet uv
	@$(RUN) -m uv pip compile --quiet --universal --python-version 3.10 --no-header --no-annotate pyproject.toml -o requirements.lock
	@$(RUN) -m uv pip compile --quiet --universal --python-version 3.10 --no-header --no-annotate --extra dev pyproject.toml -o requirements-dev.lock
	@echo "requirements.lock and requirements-dev.lock are renewed."

clean: ## remove what the build made, but not the deck's ledger
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(VENV)/.made:
	@test -n "$(PYTHON)" || { echo "Python 3.10 or later is needed: install it, or say make PYTHON=/path/to/python."; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || \
		{ echo "$(PYTHON) is not Python 3.10 or later: say make PYTHON=/path/to/python."; exit 1; }
	@echo "Setting up $(VENV) with $$("$(PYTHON)" --version) …"
	@"$(PYTHON)" -m venv $(VENV) || { echo "Python's venv module is missing: on Debian, apt install python3-venv."; exit 1; }
	@touch $@

# pip is called as a module: the scripts of a virtual environment break in folders with blanks.
$(VENV)/.deck: requirements.lock pyproject.toml | $(VENV)/.made
	@echo "Installing what the build needs …"
	@$(RUN) -m pip install -qq --disable-pip-version-check -r requirements.lock
	@touch $@

# aqt holds Anki's own style sheets, scripts and MathJax; what it depends on (Qt) is not needed for those.
$(VENV)/.dev: requirements-dev.lock requirements-assets.lock pyproject.toml | $(VENV)/.made
	@echo "Installing what the tests need …"
	@$(RUN) -m pip install -qq --disable-pip-version-check -r requirements-dev.lock
	@$(RUN) -m pip install -qq --disable-pip-version-check --no-deps -r requirements-assets.lock
	@touch $@ $(VENV)/.deck
