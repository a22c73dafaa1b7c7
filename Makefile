# Two commands matter: `make run` and `make test`. Each sets up what it needs, on a machine with git, make and
# python3 (with venv); Debian packages are installed with apt-get, through sudo only where we are not root.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
# Debian packages by purpose: the firmware and its emulators, the browser, what checks the installer, a broker.
APT_FIRMWARE := gcc g++ make gcc-avr avr-libc binutils-avr avrdude gcc-arm-none-eabi \
  libsimavr-dev libelf-dev pkg-config
APT_BROWSER := chromium fonts-dejavu-core
APT_INSTALL := shellcheck systemd mosquitto
RUN_ARGS ?=
MUTATION_ARGS ?=
SOAK_SECONDS ?= 3600

.PHONY: run test lint types bench mutation soak firmware install lock clean

run: $(VENV)/.run
	$(BIN)/companion serve --simulate $(RUN_ARGS)

test: $(VENV)/.dev $(VENV)/.apt lint
	$(BIN)/python -m pytest -n 2 --dist loadgroup --cov --cov-report=term

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.dev $(VENV)/.apt
	$(BIN)/companion bench --games 1000
	$(MAKE) mutation MUTATION_ARGS="--sample 400 --minutes 15 $(MUTATION_ARGS)"

# Hours for all (--sample 0); the default is a random sample, even over the games. Not a part of `make test`.
mutation: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --group mutation
	$(BIN)/python tests/mutation.py $(MUTATION_ARGS)

firmware: $(VENV)/.run $(VENV)/.apt
	$(BIN)/companion firmware build

# An hour and more: kills, torn copies, bad lines, crowds, junk, a full disk (as root), memory. The short form is in test.
soak: $(VENV)/.run
	$(BIN)/companion bench soak --seconds $(SOAK_SECONDS)

# For good, as a service: on the Raspberry Pi itself. Run it again to upgrade; `sudo ./install.sh --uninstall` ends it.
install:
	$(SUDO) ./install.sh

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'

$(VENV)/.run: $(VENV)/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.run
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable . --group dev
	@touch $@

# Only what is missing is asked of apt, so a second run needs no network.
$(VENV)/.apt: $(VENV)/bin/python Makefile
	@missing=$$(for p in $(APT_FIRMWARE) $(APT_BROWSER) $(APT_INSTALL); do \
	  dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || echo $$p; done); \
	if [ -n "$$missing" ]; then \
	  $(SUDO) apt-get update -q && \
	  DEBIAN_FRONTEND=noninteractive $(SUDO) apt-get install -q -y --no-install-recommends $$missing; \
	fi
	@touch $@

lock: $(VENV)/.dev
	$(BIN)/python -m pip freeze --exclude-editable > constraints.txt

clean:
	rm -rf $(VENV) firmware/build firmware/bench/build
