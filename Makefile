# make demo, make test: see the README. Everything is built below target/.

# The compiler of the MPI to use; each MPI has its own directory below target/.
MPICC ?= mpicc
# More arguments for cargo build, clippy, test and doc, such as --offline.
CARGO_FLAGS ?=
# Features that the programs are built with, and those of packages.
FEATURES = $$REPLAY_FEATURES
PACKAGE_FEATURES = $$REPLAY_OPENS_MPI
# Where make install puts the programs.
PREFIX ?= /usr/local
DESTDIR ?=
# Where libraries are below PREFIX, such as lib64.
LIBDIR ?= lib
# What make fuzz runs, and for how long each.
TARGETS ?= anchor definitions local_definitions events cubex command_line recording gates details cubepl rules import sion
SECONDS ?= 60

export MPICC MAKE

IN := . tools/environment.sh &&

.PHONY: help build build-for-packages static-library demo demo-record test check-format check-lints check-crates check-tests \
	check-opened-mpi check-documentation check-page page files book install uninstall dist dist-check dist-binary sbom deb bench fuzz \
	coverage sanitize clean prerequisites judges

help:
	@echo 'make demo                 build, analyze a trace that ships with the project, show the result'
	@echo 'make demo-record          build, record and analyze a program that ships with the project, show the result'
	@echo 'make test                 run all checks and tests'
	@echo 'make build                build the programs only'
	@echo 'make static-library       build the recorder for statically linked programs'
	@echo 'make install PREFIX=DIR   install them below DIR [$(PREFIX)]'
	@echo 'make uninstall PREFIX=DIR remove them from there'
	@echo 'make dist                 sources that can be built without a network, as target/dist/replay-VERSION.tar.xz'
	@echo 'make dist-check           make them, build and install them without a network, run the demonstration'
	@echo 'make dist-binary          programs for systems with the C library 2.17 or newer, for whom has no compiler; needs PyPI'
	@echo 'make sbom                 crates of others that are in the programs, as CycloneDX has them, target/sbom; needs cargo-cyclonedx'
	@echo 'make deb                  a package for Debian, below target/packages; docs/install.md has others'
	@echo 'make bench                print the targets of speed and memory beside what this machine does'
	@echo 'make page                 write the script and the style of the page of replay-show from their sources; needs npm'
	@echo 'make files                write docs/files.md, the list of all sources'
	@echo 'make book                 make web pages of the documentation, target/book; needs mdbook'
	@echo 'make fuzz SECONDS=n       feed made-up files to the readers and the analyzer, n seconds each [$(SECONDS)]'
	@echo 'make coverage             show which lines of formats/ the tests reach; needs cargo-llvm-cov'
	@echo 'make sanitize             check what threads share in the recorder; needs a nightly toolchain, see docs/recorder.md'
	@echo 'make clean                remove everything that was built'
	@echo
	@echo 'Variables: MPICC=COMPILER, the MPI to use [$(MPICC)]; CARGO_FLAGS=FLAGS, more arguments for cargo'

build: prerequisites
	$(IN) cargo build --release $(FEATURES) $(CARGO_FLAGS) && \
		CARGO_FLAGS='$(CARGO_FLAGS)' tools/third-party.sh $(FEATURES) >"$$CARGO_TARGET_DIR/release/THIRD-PARTY" && \
		touch "$$CARGO_TARGET_DIR/release/built" && mkdir -p target && echo "$$CARGO_TARGET_DIR" >target/built

# Programs of a package tell nothing of the directories that they were built in.
build-for-packages: FEATURES = $(PACKAGE_FEATURES)
build-for-packages: export RUSTFLAGS := $(RUSTFLAGS) --remap-path-prefix=$(CURDIR)=replay \
	--remap-path-prefix=$(or $(CARGO_HOME),$(HOME)/.cargo)=cargo
build-for-packages: build

# For programs that are linked statically: link it before the MPI library.
static-library: build
	$(IN) cargo rustc --release -p recorder --features static --crate-type staticlib $(CARGO_FLAGS) \
		--target-dir "$$CARGO_TARGET_DIR/static"

demo: build
	@tools/demo.sh

demo-record: build
	@tools/demo-record.sh

test: judges
	@$(MAKE) --no-print-directory check-format check-lints check-crates check-tests check-opened-mpi check-documentation check-page
	@echo 'All checks and tests passed.'

# The fuzz targets are a workspace of their own.
check-format:
	@if cargo fmt --version >/dev/null 2>&1; then set -ex; \
		cargo fmt --all --check; cargo fmt --manifest-path fuzz/Cargo.toml --check; fi

check-lints:
	@$(IN) if cargo clippy --version >/dev/null 2>&1; then set -x; \
		cargo clippy --workspace --all-targets $$REPLAY_FEATURES $(CARGO_FLAGS) -- -D warnings; \
		cargo clippy --all-targets $$REPLAY_OPENS_MPI $(CARGO_FLAGS) -- -D warnings; \
		cargo clippy -p replay --no-default-features $(CARGO_FLAGS) -- -D warnings; fi

# Licences and origins of the crates of others, as deny.toml has them. What is known to be wrong with them changes without us:
# cargo deny check advisories.
check-crates:
	@if cargo deny --version >/dev/null 2>&1; then set -x; cargo deny check licenses bans sources; \
		else echo 'skipped: licences of crates, as cargo-deny is missing (cargo install cargo-deny)'; fi

# Tests send signals that a shell has programs in the background, or nohup, ignore.
DEFAULT_SIGNALS := $(shell env --default-signal true 2>/dev/null && echo env --default-signal)

# --show-output: a test that is skipped says so. --no-fail-fast: all that fails is seen at once.
check-tests:
	$(IN) $(DEFAULT_SIGNALS) cargo test --workspace --no-fail-fast $$REPLAY_FEATURES $(CARGO_FLAGS) -- --show-output

# Modules with tests of several processes. There are more, for those who have the time:
# make check-opened-mpi PROCESSES='one_program equivalence command_line diagnostics bad_input faults predict advice_output'
PROCESSES := one_program equivalence

# One program for all MPIs: under the launcher of each that is here its processes pass the tests that those of rsmpi have passed.
check-opened-mpi:
	$(IN) for launcher in mpirun.openmpi mpirun.mpich; do \
		if has $$launcher; then \
			REPLAY_MPIRUN=$$launcher $(DEFAULT_SIGNALS) cargo test $$REPLAY_OPENS_MPI --test integration $(CARGO_FLAGS) -- \
				--show-output $(PROCESSES) || exit 1; \
		else echo "skipped: the opened MPI library under $$launcher, which is not here"; fi; done

check-documentation:
	$(IN) RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps $$REPLAY_FEATURES $(CARGO_FLAGS)

PAGE := replay/show/page

# The bundle is committed, so that nothing but these needs node.
page:
	cd $(PAGE) && npm ci --silent && npm run --silent check && npm run --silent build

check-page:
	@if [ -d $(PAGE)/node_modules ]; then set -ex; cd $(PAGE); npm run --silent check; npm run --silent build -- --check; \
		else echo 'skipped: the bundle of the page is not made again, as npm or its packages are missing (make judges)'; fi

# The list of files in docs/files.md, from the first lines of all sources.
files:
	$(IN) REPLAY_WRITE=1 cargo test -p replay --test integration $$REPLAY_FEATURES $(CARGO_FLAGS) -- list_of_files

# Installed by make install if it is there.
book:
	@tools/book.sh

install:
	@DESTDIR='$(DESTDIR)' LIBDIR='$(LIBDIR)' tools/install.sh '$(PREFIX)'

uninstall:
	@tools/uninstall.sh '$(PREFIX)'

dist:
	@tools/dist.sh

dist-check: dist
	@tools/dist-check.sh

# Which crates of others are in which program, in the format of CycloneDX.
sbom:
	@tools/sbom.sh

dist-binary:
	@tools/dist-binary.sh

deb:
	@packaging/deb.sh

# In memory if possible: a disk is not what is measured.
bench: prerequisites
	$(IN) if [ -w /dev/shm ]; then export TMPDIR=$${TMPDIR:-/dev/shm}; fi; \
		cargo bench --quiet --bench replay $$REPLAY_FEATURES $(CARGO_FLAGS) -- targets

fuzz:
	@CARGO_FLAGS='$(CARGO_FLAGS)' tools/fuzz.sh run $(SECONDS) $(TARGETS)

coverage:
	@CARGO_FLAGS='$(CARGO_FLAGS)' tools/coverage.sh

# Undefined behaviour and data races in the tables and records of the recorder.
sanitize:
	$(IN) MIRIFLAGS=-Zmiri-many-seeds=0..4 cargo +nightly miri test -p recorder $(CARGO_FLAGS) -- \
		handles:: shared:: channels:: record::
	$(IN) RUSTFLAGS=-Zsanitizer=thread cargo +nightly test -Zbuild-std --target "$$(uname -m)-unknown-linux-gnu" -p recorder \
		$(CARGO_FLAGS) -- handles:: shared:: channels::

clean:
	rm -rf target

prerequisites:
	@tools/prerequisites.sh build

judges:
	@tools/prerequisites.sh test
