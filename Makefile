# Two commands do everything: `make demo` runs the main job, `make test` runs the tests.
# Both install what is missing and build first; each works alone, in a fresh clone.

SWIFT ?= swift
SWIFT_MINIMUM := 6.2
# On macOS, Homebrew keeps OpenSSL and SQLCipher where pkg-config does not look.
BREW_PKGCONFIG := $(shell command -v brew >/dev/null 2>&1 && \
	printf '%s/lib/pkgconfig:%s/lib/pkgconfig' "$$(brew --prefix openssl)" "$$(brew --prefix sqlcipher)")
export PKG_CONFIG_PATH := $(BREW_PKGCONFIG)$(if $(PKG_CONFIG_PATH),:$(PKG_CONFIG_PATH))

.PHONY: demo test bench test-sqlcipher4 test-memory-release sqlcipher4 build lint format clean prerequisites swift-version libraries

demo: prerequisites
	@$(SWIFT) build --product sealedsync
	@"$$($(SWIFT) build --show-bin-path)/sealedsync" demo

# One test after the other: many block a thread or wait for real processes, and two cores have a pool of two threads.
test: prerequisites
	@$(SWIFT) build --build-tests
	@$(SWIFT) test --skip-build --no-parallel

# The same tests, the same binaries, on SQLCipher 4: the library is found at run time. What only both generations
# together can show, such as a file that one writes and the other reads, is tested here as well.
test-sqlcipher4: prerequisites sqlcipher4
	@$(SWIFT) build --build-tests
	@SEALEDSYNC_SQLCIPHER4="$(CURDIR)/.sqlcipher4/lib" LD_LIBRARY_PATH="$(CURDIR)/.sqlcipher4/lib" \
		$(SWIFT) test --skip-build --no-parallel

# The search for secrets in the process's memory, in an optimized build, whose copies are others. Debian's SQLCipher, and
# version 4 when `make sqlcipher4` has built it.
test-memory-release: prerequisites
	@$(SWIFT) build -c release --build-tests -Xswiftc -enable-testing --scratch-path .build/release-tests
	@for folder in '' "$(CURDIR)/.sqlcipher4/lib"; do \
		if [ -n "$$folder" ] && [ ! -e "$$folder" ]; then continue; fi; \
		LD_LIBRARY_PATH="$$folder" $(SWIFT) test -c release --skip-build --no-parallel -Xswiftc -enable-testing \
			--scratch-path .build/release-tests --filter SealedSyncTests.MemoryTests || exit 1; \
	done

# Built from Debian's source package, once; nothing is installed but what the build needs.
sqlcipher4:
	@if [ -e .sqlcipher4/lib/libsqlcipher.so.0 ]; then exit 0; fi; \
	for tool in apt-get dpkg-source cc make tclsh; do \
		command -v $$tool >/dev/null 2>&1 && continue; \
		if ! command -v apt-get >/dev/null 2>&1; then \
			echo "SQLCipher 4 is built from Debian's source package: this needs Debian or Ubuntu." >&2; exit 1; fi; \
		if [ "$$(id -u)" = 0 ]; then sudo=; else sudo=sudo; fi; \
		$$sudo apt-get update -qq && \
		$$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq dpkg-dev gcc make tcl || exit 1; \
	done; \
	Scripts/build-sqlcipher4

# The encrypted store against the same work in C on the same library. Measures: leave the machine alone meanwhile.
bench: prerequisites
	@$(SWIFT) build -c release --product sealedsync-bench
	@"$$($(SWIFT) build -c release --show-bin-path)/sealedsync-bench" store
	@"$$($(SWIFT) build -c release --show-bin-path)/sealedsync-bench" growth

build: prerequisites
	@$(SWIFT) build

lint:
	@$(SWIFT) format lint --strict --recursive Package.swift Keys Sources Tests

format:
	@$(SWIFT) format --in-place --recursive Package.swift Keys Sources Tests

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

libraries:
	@if command -v pkg-config >/dev/null 2>&1 && pkg-config --exists sqlcipher libcrypto; then exit 0; fi; \
	if command -v apt-get >/dev/null 2>&1; then \
		if [ "$$(id -u)" = 0 ]; then sudo=; else sudo=sudo; fi; \
		if [ -n "$$sudo" ] && ! command -v sudo >/dev/null 2>&1; then \
			echo "As root, install libsqlcipher-dev, libssl-dev and pkg-config; then run make again." >&2; exit 1; fi; \
		echo "Installing libsqlcipher-dev, libssl-dev and pkg-config"; \
		$$sudo apt-get update -qq && \
		$$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq libsqlcipher-dev libssl-dev pkg-config || { \
			echo "The packages could not be installed: install libsqlcipher-dev, libssl-dev and pkg-config by hand." >&2; \
			exit 1; }; \
	elif command -v brew >/dev/null 2>&1; then \
		brew install sqlcipher openssl pkgconf; \
	else \
		echo "Install the development files of SQLCipher and of OpenSSL 3 (libcrypto), and pkg-config." >&2; \
		echo "On Debian and Ubuntu the packages are libsqlcipher-dev, libssl-dev and pkg-config." >&2; \
		exit 1; \
	fi
