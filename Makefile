# Every target is a line or a script; `make ci` is what continuous integration runs.
.PHONY: bootstrap build demo test integration faults tsan asan coverage bench docs format lint ci

# Installs what is missing: Debian's packages of the C libraries, and the broker of the tests in .tools.
bootstrap:
	@scripts/bootstrap.sh

build: bootstrap
	swift build

# The debug build, because the tests use it too.
demo: bootstrap
	swift build --product aegis
	.build/debug/aegis demo

test: bootstrap
	scripts/test.sh

integration: bootstrap
	scripts/test.sh --filter IntegrationTests

faults: bootstrap
	scripts/test.sh --filter FaultTests

tsan: bootstrap
	SANITIZER=thread scripts/test.sh

asan: bootstrap
	SANITIZER=address scripts/test.sh

coverage: bootstrap
	scripts/coverage.sh

bench: bootstrap
	swift build -c release --product aegis
	.build/release/aegis bench pipeline

# Writes docs/configuration.md and docs/metrics.md from the code, and the demo's output into README.md.
docs: bootstrap
	AEGIS_WRITE_DOCS=1 swift test --filter 'ShippedFilesTests|MetricsReferenceTests'
	scripts/update-readme.sh

format:
	swift format --in-place --parallel --recursive Sources Tests Package.swift

lint:
	swift format lint --strict --parallel --recursive Sources Tests Package.swift
	scripts/check-layers.sh

ci:
	$(MAKE) lint
	$(MAKE) demo
	$(MAKE) test
