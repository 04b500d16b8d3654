# Two commands do everything: `make demo` runs the main job, `make test` runs the tests.
# Both install what is missing and build first; each works alone, in a fresh clone.

SWIFT ?= swift
SWIFT_MINIMUM := 6.2
# On macOS, Homebrew keeps OpenSSL and SQLCipher where pkg-config does not look.
BREW_PKGCONFIG := $(shell command -v brew >/dev/null 2>&1 && \
	printf '%s/lib/pkgconfig:%s/lib/pkgconfig' "$$(brew --prefix openssl)" "$$(brew --prefix sqlcipher)")
export PKG_CONFIG_PATH := $(BREW_PKGCONFIG)$(if $(PKG_CONFIG_PATH),:$(PKG_CONFIG_PATH))

# Debug builds optimize what is tested, and check all that a debug build checks: the tests take half the processor time.
# For every rule, because one build serves them all.
export SEALEDSYNC_OPTIMIZED := 1

.PHONY: demo test test-all test-defects test-key-defects test-store-defects test-rules test-key-stores bench test-sqlcipher4 \
	test-memory-release test-memory-debug test-dependency explore sqlcipher4 store-results docs build build-tests lint \
	format clean prerequisites swift-version libraries openssl install

demo: prerequisites
	@$(SWIFT) build --product sealedsync
	@"$$($(SWIFT) build --show-bin-path)/sealedsync" demo

# How many tests run at a time: enough to keep the processors busy while some wait. All at once, as without this, they
# would take each other's time.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH ?= $(shell expr 2 '*' "$$(getconf _NPROCESSORS_ONLN)")

# Whether the simulation and the tests of the engine find what they are for: each defect, in a copy of the package.
test-defects: prerequisites
	@SWIFT="$(SWIFT)" Scripts/try-defects

# Whether the tests of the keys find what they are for, likewise.
test-all test-defects: test-key-defects
test-key-defects: prerequisites
	@SWIFT="$(SWIFT)" DEFECTS=Tests/StoreKeysTests/Defects DEFECTS_FOLDER="$(CURDIR)/.build/key-defects" DEFECTS_BRIEF=1 \
		DEFECTS_TARGETS="StoreKeysTests SecretMemoryTests DurableFilesTests" Scripts/try-defects

# And those of stores with their keys.
test-all test-defects: test-store-defects
test-store-defects: prerequisites
	@SWIFT="$(SWIFT)" DEFECTS=Tests/SealedSyncTests/Defects DEFECTS_FOLDER="$(CURDIR)/.build/store-defects" DEFECTS_BRIEF=1 \
		DEFECTS_TARGETS="SQLCipherStoreTests SQLCipherMaintenanceTests SealedSyncTests StoredFixtureTests" Scripts/try-defects

# What guards a change, on the distribution's SQLCipher: a few minutes.
test: prerequisites openssl
	@$(SWIFT) build --build-tests
	@SWIFT="$(SWIFT)" Scripts/run-tests

# Everything: as much chance and as many kills as look for unknown faults, on both generations of SQLCipher, and the
# search of memory in other builds.
test-all: export SEALEDSYNC_ALL_ROUNDS := 1
test-all: export SEALEDSYNC_ROTATION_KILLS := 200
test-all: export SEALEDSYNC_SILENT_SECONDS := 3600
test-all: sqlcipher4
	@$(MAKE) --no-print-directory test
	@$(MAKE) --no-print-directory test-key-stores
	@$(MAKE) --no-print-directory test-sqlcipher4
	@$(MAKE) --no-print-directory test-memory-release
	@$(MAKE) --no-print-directory test-memory-debug

# The machine of an item, with everything that can happen to one row, two devices and a server: about a million states, and
# tens of millions with SEALEDSYNC_ALL_ROUNDS. It wants an optimized build, of two small modules.
test: explore
explore: swift-version
	@$(SWIFT) build -c release --product machine-exploration --scratch-path .build/exploration
	@.build/exploration/release/machine-exploration $(if $(SEALEDSYNC_ALL_ROUNDS),--all)

# Whether that finds each rule that is taken away from the machine.
test-all: test-rules
test-rules: swift-version
	@SWIFT="$(SWIFT)" Scripts/explore-without-rules

# The key stores of the platform, which a plain build knows nothing of: what they need is installed here.
test-key-stores: prerequisites
	@missing=; pkg-config --exists libsecret-1 tss2-esys tss2-tctildr tss2-mu || missing=libraries; \
	for program in dbus-daemon dbus-monitor gdbus gnome-keyring-daemon swtpm; do \
		command -v $$program >/dev/null 2>&1 || missing="$$missing $$program"; done; \
	[ -n "$$missing" ] || exit 0; \
	if command -v apt-get >/dev/null 2>&1; then \
		$(MAKE) --no-print-directory install \
			PACKAGES="libsecret-1-dev libtss2-dev dbus libglib2.0-bin gnome-keyring swtpm"; \
	else \
		echo "Install the development files of libsecret and tpm2-tss, dbus, GLib's gdbus, gnome-keyring and swtpm." >&2; \
		exit 1; \
	fi
	@SWIFT="$(SWIFT)" Scripts/test-key-stores

# The same tests, the same binaries, on SQLCipher 4: the library is found at run time. What only both generations
# together can show, such as a file that one writes and the other reads, is tested here as well. What opens no encrypted
# store is the same with either, and not run a second time: the modules that do not link it, and a few suites by name.
WITHOUT_SQLCIPHER := ChildProcesses DatasyncEmulator DatasyncHTTP DurableFiles HTTPTransport ItemCoding QueryEvaluation \
	RecordJSON ReferenceStore RemoteConformance SecretMemory ServerConformance StoreKeys SyncContract SyncMachines
SUITES_WITHOUT_SQLCIPHER := SimulationTests.SimulationTests SimulationTests.ChosenIDsTests \
	StoreConformanceTests.FaultyStoreTests StoreConformanceTests.MutantTests
test-sqlcipher4: prerequisites openssl sqlcipher4
	@if grep -lE 'import (SQLCipher|SealedSync|StoreHarnesses)' -r $(WITHOUT_SQLCIPHER:%=Tests/%Tests); then \
		echo "These open an encrypted store now: take their modules off WITHOUT_SQLCIPHER in the Makefile." >&2; exit 1; fi
	@$(SWIFT) build --build-tests
	@SEALEDSYNC_SQLCIPHER4="$(CURDIR)/.sqlcipher4/lib" LD_LIBRARY_PATH="$(CURDIR)/.sqlcipher4/lib" SWIFT="$(SWIFT)" \
		Scripts/run-tests $(foreach tests,$(WITHOUT_SQLCIPHER:%=%Tests) $(SUITES_WITHOUT_SQLCIPHER),--skip '^$(tests)[./]')

# The search for secrets in the process's memory, in a release build and in one that optimizes nothing: each leaves other
# copies. Debian's SQLCipher, and version 4 when `make sqlcipher4` has built it.
test-memory-release: MEMORY_BUILD = -c release -Xswiftc -enable-testing --scratch-path .build/release-tests
test-memory-debug: MEMORY_BUILD = --scratch-path .build/debug-tests
test-memory-release test-memory-debug: prerequisites
	@unset SEALEDSYNC_OPTIMIZED; $(SWIFT) build --build-tests $(MEMORY_BUILD)
	@unset SEALEDSYNC_OPTIMIZED; for folder in '' "$(CURDIR)/.sqlcipher4/lib"; do \
		if [ -n "$$folder" ] && [ ! -e "$$folder" ]; then continue; fi; \
		LD_LIBRARY_PATH="$$folder" SWIFT="$(SWIFT)" Scripts/run-tests $(MEMORY_BUILD) \
			--filter SealedSyncTests.MemoryTests || exit 1; \
	done

# Built from Debian's source package, once; nothing is installed but what the build needs.
sqlcipher4:
	@if [ -e .sqlcipher4/lib/libsqlcipher.so.0 ]; then exit 0; fi; \
	for tool in apt-get dpkg-source cc make tclsh; do \
		command -v $$tool >/dev/null 2>&1 && continue; \
		if ! command -v apt-get >/dev/null 2>&1; then \
			echo "SQLCipher 4 is built from Debian's source package: this needs Debian or Ubuntu." >&2; exit 1; fi; \
		$(MAKE) --no-print-directory install PACKAGES="dpkg-dev gcc make tcl" || exit 1; \
	done; \
	Scripts/build-sqlcipher4

# The encrypted store and the sync against the same work with nothing around it. Measures: leave the machine alone
# meanwhile.
bench: prerequisites
	@$(SWIFT) build -c release --product sealedsync-bench
	@"$$($(SWIFT) build -c release --show-bin-path)/sealedsync-bench" store
	@"$$($(SWIFT) build -c release --show-bin-path)/sealedsync-bench" sync --largest 1000000
	@"$$($(SWIFT) build -c release --show-bin-path)/sealedsync-bench" growth
	@"$$($(SWIFT) build -c release --show-bin-path)/sealedsync-bench" emulator
	@"$$($(SWIFT) build -c release --show-bin-path)/sealedsync-bench" files

# An app in a folder of its own that depends on the package: which libraries it needs, and whether it syncs.
test-dependency: prerequisites
	@$(SWIFT) build --product sealedsync
	@SWIFT="$(SWIFT)" Scripts/try-as-dependency

# What became of the rules for stores, for every store at hand, as a page of the documentation.
store-results: prerequisites
	@$(SWIFT) build --product conformance-fixture
	@SWIFT="$(SWIFT)" Scripts/write-store-results

# One static site of all public modules, in .build/documentation.
docs: prerequisites
	@SWIFT="$(SWIFT)" Scripts/build-documentation

build: prerequisites
	@$(SWIFT) build

build-tests: prerequisites
	@$(SWIFT) build --build-tests

lint:
	@$(SWIFT) format lint --strict --recursive Package.swift Examples Keys Sources Tests

format:
	@$(SWIFT) format --in-place --recursive Package.swift Examples Keys Sources Tests

clean:
	@rm -rf .build

prerequisites: swift-version libraries

swift-version:
	@command -v $(SWIFT) >/dev/null 2>&1 || { \
		echo "Swift is missing: install Swift $(SWIFT_MINIMUM) or later from https://www.swift.org/install" >&2; exit 1; }
	@found=$$($(SWIFT) --version 2>/dev/null | sed -n 's/.*Swift version \([0-9]*\.[0-9]*\).*/\1/p' | head -n 1); \
	printf '%s\n%s\n' "$(SWIFT_MINIMUM)" "$$found" | sort -t. -k1,1n -k2,2n | head -n 1 | grep -qx "$(SWIFT_MINIMUM)" || { \
		echo "Swift $$found is too old: install Swift $(SWIFT_MINIMUM) or later from https://www.swift.org/install" >&2; \
		exit 1; }

# What the package links, as pkg-config names it, and what brings it. libcurl is the client on Linux only.
LIBRARIES := sqlcipher libcrypto libssl $(if $(filter Darwin,$(shell uname -s)),,libcurl)
DEBIAN_PACKAGES := libsqlcipher-dev libssl-dev libcurl4-openssl-dev pkg-config ca-certificates

libraries:
	@if command -v pkg-config >/dev/null 2>&1 && pkg-config --exists $(LIBRARIES) && \
		{ ! command -v apt-get >/dev/null 2>&1 || [ -e /etc/ssl/certs/ca-certificates.crt ]; }; then exit 0; fi; \
	if command -v apt-get >/dev/null 2>&1; then \
		$(MAKE) --no-print-directory install PACKAGES="$(DEBIAN_PACKAGES)"; \
	elif command -v brew >/dev/null 2>&1; then \
		brew install sqlcipher openssl pkgconf; \
	else \
		echo "Install pkg-config, the system's trusted certificates, and the development files of SQLCipher, of" >&2; \
		echo "OpenSSL 3 and of libcurl. On Debian and Ubuntu the packages are $(DEBIAN_PACKAGES)." >&2; \
		exit 1; \
	fi

# The tests make certificates with the `openssl` program.
openssl:
	@command -v openssl >/dev/null 2>&1 && exit 0; \
	if command -v apt-get >/dev/null 2>&1; then $(MAKE) --no-print-directory install PACKAGES=openssl; \
	else echo "Install the openssl program: the tests make certificates with it." >&2; exit 1; fi

# Installs $(PACKAGES) where apt is.
install:
	@if [ "$$(id -u)" = 0 ]; then sudo=; else sudo=sudo; fi; \
	if [ -n "$$sudo" ] && ! command -v sudo >/dev/null 2>&1; then \
		echo "As root, install $(PACKAGES); then run make again." >&2; exit 1; fi; \
	echo "Installing $(PACKAGES)"; \
	$$sudo apt-get update -qq && \
	$$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $(PACKAGES) || { \
		echo "The packages could not be installed: install $(PACKAGES) by hand." >&2; exit 1; }
