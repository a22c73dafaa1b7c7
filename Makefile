# Two commands matter: `make run` and `make test` (`make test-long` tries more). Each sets up what it needs, on a machine
# with git, make and python3 (with venv); Debian packages are installed with apt-get, through sudo only where we are not
# root. `make setup` does no more than that.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
# Debian packages by purpose: the firmware and its emulators, the browser; what checks the installer, a broker, a card,
# an encrypted backup, a release; the tables that a ray tracer draws.
APT_FIRMWARE := gcc g++ make gcc-avr avr-libc binutils-avr avrdude gcc-arm-none-eabi \
  libsimavr-dev libelf-dev pkg-config
APT_BROWSER := chromium-headless-shell fonts-dejavu-core
APT_INSTALL := shellcheck systemd mosquitto e2fsprogs age strace openssh-client
APT_EMULATOR := qemu-system-arm
APT_WORLDS := povray fonts-dejavu-core
APT_MACHINE := $(APT_EMULATOR) qemu-user-static mmdebstrap arch-test e2fsprogs gcc-aarch64-linux-gnu
# The lock: versions, and the hashes that their files must have; of what runs, and of all that development needs.
LOCK := --constraint constraints.txt
RUN_ARGS ?=
MUTATION_ARGS ?=
SOAK_SECONDS ?= 3600
MACHINE_SUITES ?= bookworm trixie
MACHINE_ARGS ?=
HOME_PYTHON ?= python3.13
SHEET ?= $(VENV)/contact-sheet.webp
# What was compiled is kept, whatever the shell says: else each worker and each service of a test compiles it all anew.
PYTEST := env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest
# Four workers for two cores: tests of services and browsers wait for a third of their time. A file's tests stay with
# one worker, which made what they share, until another has nothing left to do.
WORKERS := -n 4 --dist worksteal

.PHONY: run setup test test-long coverage lint bench mutation pictures soak machine-plug machine machine-soak home-assistant audit firmware release install lock clean

run: $(VENV)/.run
	$(BIN)/companion serve --simulate $(RUN_ARGS)

setup: $(VENV)/.dev $(VENV)/.apt

# What lint says stands below the tests, beside which it runs; either may fail it all. Kinds of tests and options:
# tests/suite/README.md.
test: $(VENV)/.dev $(VENV)/.apt
	@$(MAKE) --no-print-directory lint > $(VENV)/lint.log 2>&1 & lint=$$!; \
	$(PYTEST) $(WORKERS) -m "not long"; tests=$$?; \
	wait $$lint; said=$$?; cat $(VENV)/lint.log; exit $$(( tests || said ))

# What `make test` leaves out or tries in a small size; then what looks at colours, in the other theme.
test-long: $(VENV)/.dev $(VENV)/.apt
	$(PYTEST) $(WORKERS) --long --timeout 900 -m "long or sized"
	$(PYTEST) $(WORKERS) --crossed -m "colours and not long and not sized" tests/browser

# What of the product the tests reach, branch by branch; those that look at pages are no help for it.
coverage: $(VENV)/.dev $(VENV)/.apt
	$(PYTEST) $(WORKERS) --timeout 900 -m "not browser and not long" --cov --cov-report=term

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.dev $(VENV)/.apt
	$(BIN)/companion bench --games 1000
	$(BIN)/python -m tests.browser.taps
	$(BIN)/python -m tests.browser.slow_phone
	$(MAKE) mutation MUTATION_ARGS="--sample 400 --minutes 15 $(MUTATION_ARGS)"

# Hours for all (--sample 0); the default is a random sample, even over the games. Not a part of `make test`.
mutation: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet $(LOCK) --group mutation
	$(BIN)/python tests/mutation.py $(MUTATION_ARGS)

# The README's film and gallery anew, and every room of the page on one sheet, for who looks at a change.
pictures: $(VENV)/.dev $(VENV)/.apt
	$(BIN)/python docs/pictures.py
	$(BIN)/python -m companion.lab.contact_sheet $(SHEET)

firmware: $(VENV)/.run $(VENV)/.apt
	$(BIN)/companion firmware build

# An hour and more: kills, torn copies, bad lines and cameras, crowds, junk, fuzzed readers, a full disk (as root),
# memory. The short form is in test.
soak: $(VENV)/.dev
	$(BIN)/companion bench soak --seconds $(SOAK_SECONDS)
	$(PYTEST) -q tests/web/http/test_junk.py --junk $$(( $(SOAK_SECONDS) / 12 )) --timeout 0

# The plug, pulled: at 600 moments of an evening, and 200 of an installation, an upgrade and the way back. Needs root (it
# mounts cards of its own); the short form is in test.
machine-plug: $(VENV)/.dev
	$(BIN)/companion bench plug --seconds 30
	$(PYTEST) -q --long --timeout 0 tests/install/test_plug.py

# A Debian for aarch64 in QEMU with its own kernel and systemd, and `make install` and the first evening on it. It takes
# long, goes on where it was left, and needs root for its images: companion/lab/machine/README.md.
machine: $(VENV)/.dev $(VENV)/.apt-machine
	for suite in $(MACHINE_SUITES); do $(SUDO) $(BIN)/python -m companion.lab.machine --suite $$suite $(MACHINE_ARGS) || exit 1; done

# The same, and the plug pulled from it fifteen times, with a whole boot after each.
machine-soak: MACHINE_ARGS += --soak
machine-soak: machine

# A real Home Assistant beside a real Mosquitto; HOME_PYTHON is one that it runs on.
home-assistant: $(VENV)/.dev $(VENV)/.apt
	$(BIN)/python -m companion.lab.soak.home_assistant --python $(HOME_PYTHON)

# Known weaknesses of what the lock pins; asks PyPI, then OSV, so it needs the internet.
audit: $(VENV)/.run
	$(BIN)/python -m pip install --quiet $(LOCK) --group audit
	@for service in pypi osv; do \
	  if $(BIN)/pip-audit --strict --progress-spinner off --disable-pip --requirement constraints.txt \
	      --vulnerability-service $$service > $(VENV)/audit.txt 2> $(VENV)/audit-$$service.log; then \
	    echo "No weakness is known to $$service of the $$(grep -c == constraints.txt) packages of the lock."; exit 0; \
	  elif grep -q '^Found [0-9]* known' $(VENV)/audit-$$service.log; then cat $(VENV)/audit.txt; exit 1; \
	  fi; \
	done; \
	echo "The audit could not be made: neither PyPI nor OSV answered for every package ($(VENV)/audit-*.log)." >&2; \
	exit 1

# A version as files: packages, images, bill of materials, sums, signed with KEY (of ssh-keygen). Of what is committed.
release: $(if $(KEY),$(VENV)/.run $(VENV)/.apt)
	@test -n "$(KEY)" || { echo "make release KEY=~/.ssh/id_ed25519: name the key that signs." >&2; exit 1; }
	$(BIN)/python -m companion.lab.release --key $(KEY)

# For good, as a service: on the Raspberry Pi itself. Run it again to upgrade; `sudo ./install.sh --uninstall` ends it.
install:
	$(SUDO) ./install.sh

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'

$(VENV)/.run: $(VENV)/bin/python pyproject.toml requirements.txt
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.run constraints.txt
	$(BIN)/python -m pip install --quiet $(LOCK) --group dev
	@touch $@

# Only what is missing is asked of apt, so a second run needs no network.
define APT
@missing=$$(for p in $(1); do \
  dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || echo $$p; done); \
if [ -n "$$missing" ]; then \
  $(SUDO) apt-get update -q && \
  DEBIAN_FRONTEND=noninteractive $(SUDO) apt-get install -q -y --no-install-recommends $$missing; \
fi
@touch $@
endef
$(VENV)/.apt: $(VENV)/bin/python Makefile
	$(call APT,$(APT_FIRMWARE) $(APT_BROWSER) $(APT_INSTALL) $(APT_EMULATOR) $(APT_WORLDS))
$(VENV)/.apt-machine: $(VENV)/bin/python Makefile
	$(call APT,$(APT_MACHINE) $(APT_FIRMWARE))

# Both locks anew, of what is installed now. The tool that writes them is in neither and has an environment of its own.
COMPILE = $(VENV)/lock/bin/pip-compile --quiet --generate-hashes --allow-unsafe --strip-extras --no-annotate --no-header --no-emit-options
lock: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet $(LOCK) --group mutation --group audit
	$(PYTHON) -m venv $(VENV)/lock
	$(VENV)/lock/bin/python -m pip install --quiet --upgrade pip pip-tools
	$(BIN)/python -m pip freeze --exclude-editable --all | grep -v '^pip==' > $(VENV)/pins.in
	$(COMPILE) --output-file $(VENV)/all.txt $(VENV)/pins.in
	$(COMPILE) --output-file $(VENV)/run.txt --constraint $(VENV)/pins.in --extra mqtt --build-deps-for editable pyproject.toml
	grep -v -e '^#' -e '^$$' $(VENV)/all.txt > constraints.txt
	grep -v -e '^#' -e '^$$' $(VENV)/run.txt > requirements.txt

clean:
	rm -rf $(VENV) firmware/build firmware/bench/build
