# `make help` lists what there is. The environment is in .venv/, state in var/, and the node's data below the user's data
# folder, one node for all checkouts. Downloads are cached below the user's cache folder: a second time works offline.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
GO ?= go
VENV := .venv
BIN := $(VENV)/bin
CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/gear
LOCK := requirements-dev.txt
# Tests on real servers wait more than they compute: more of them at once than two cores have.
TEST_WORKERS ?= 3
SIZE ?= 1000000
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Tests start many processes, and each would compile our sources again.
unexport PYTHONDONTWRITEBYTECODE
# Unit tests need no plugin of Schemathesis: half a second of imports in each process.
UNIT_TESTS := -p no:schemathesis --dist worksteal
REAL_TESTS := -n $(TEST_WORKERS) --dist loadfile --no-loadscope-reorder

.PHONY: help
help: ## what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 22

# Wheels are kept by the lock's and the interpreter's identity; with them the environment is made without a network.
# The lock names every package, so pip looks for no other (--no-deps): pip before 23.3 asks for the newest version of
# `coverage[toml]` beside the locked one, and fails as soon as there is a newer one.
$(VENV)/.complete: $(LOCK) pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "there is no $(PYTHON). Try: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed; $(PYTHON) is $$($(PYTHON) -V). Try: make PYTHON=python3.12 ..." >&2; exit 1; }
	@echo "making the environment in $(VENV)/ (about a minute the first time)" >&2
	@rm -rf $(VENV) && $(PYTHON) -m venv $(VENV)
	@wheels="$(CACHE)/wheels/$$($(BIN)/python -c 'import hashlib, sysconfig, sys; print(hashlib.sha256(open(sys.argv[1], "rb").read()).hexdigest()[:16], sysconfig.get_python_version(), sysconfig.get_platform(), sep="-")' $(LOCK))"; \
	mkdir -p "$$wheels"; \
	[ -e "$$wheels/.complete" ] || $(BIN)/pip download -q --no-deps --only-binary :all: --require-hashes -r $(LOCK) -d "$$wheels" \
		|| { echo "the packages could not be downloaded: is there a network, and room below $(CACHE)?" >&2; exit 1; }; \
	touch "$$wheels/.complete"; \
	$(BIN)/pip install -q --no-deps --no-index --find-links "$$wheels" --require-hashes -r $(LOCK) \
		|| { rm -f "$$wheels/.complete"; echo "the packages could not be installed; another try downloads the damaged ones again" >&2; exit 1; }
	@$(BIN)/pip install -q --no-index --no-build-isolation --no-deps -e . && $(BIN)/pip check -q
	@touch $@

.PHONY: environment
environment: $(VENV)/.complete ## the environment in .venv/

.PHONY: demo
demo: environment ## a real OpenSearch, the real catalogue, the API, a token, a first search and a first order
	@$(BIN)/python demo.py start

.PHONY: stop
stop: ## stops what `make demo` started; data stays
	@[ -e $(VENV)/.complete ] || { echo "nothing was stopped, the environment is missing: make environment stop" >&2; exit 1; }
	@$(BIN)/python demo.py stop

.PHONY: clean
clean: ## stops and removes everything that make made here; downloads stay cached
	@if [ -e $(VENV)/.complete ]; then $(BIN)/python demo.py stop; $(BIN)/gear-node reset --yes; \
	else echo "no server was looked for, the environment is missing: make environment clean stops and removes all" >&2; fi
	@rm -rf $(VENV) var build dist *.egg-info .mypy_cache .ruff_cache .hypothesis .coverage

.PHONY: test
test: environment ## all checks and the tests of minutes, on a real OpenSearch and real databases
	@$(BIN)/ruff check --no-cache .
	@$(BIN)/ruff format --no-cache --check -q .
	@mkdir -p var && rm -f var/checks.log
	@$(MAKE) -s -j 2 test-real types-and-units || { [ ! -e var/checks.log ] || cat var/checks.log >&2; exit 1; }

.PHONY: test-real
test-real:
	@$(BIN)/python -m pytest -m "not docker and not deployment and not slow" --ignore tests/unit $(REAL_TESTS)

# What needs no server has the processor time that the tests on real servers leave. Its log stays only where it fails.
.PHONY: types-and-units
types-and-units:
	@nice $(BIN)/mypy >var/checks.log 2>&1
	@nice $(BIN)/python -m pytest tests/unit --cov --cov-report=term -n 1 $(UNIT_TESTS) >>var/checks.log 2>&1
	@tail -n 1 var/checks.log && rm var/checks.log

.PHONY: test-slow
test-slow: environment ## the tests that kill and cut, of browsers, clients and whole catalogues
	@$(BIN)/python -m pytest -m "slow and not docker" --ignore tests/unit $(REAL_TESTS)

.PHONY: test-extended
test-extended: export GEAR_TEST_EXTENDED = 1
test-extended: test test-slow ## both with many more drawn examples and a longer chaos: before a release

.PHONY: check
check: environment ## format, lint, types and the tests without servers: a minute, for the inner loop
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check -q .
	@$(BIN)/mypy
	@$(BIN)/python -m pytest tests/test_architecture.py tests/test_naming.py tests/unit tests/docs -n 2 $(UNIT_TESTS)

.PHONY: bench
# With the million made and loaded it is over in a quarter of an hour, on a slow day of two cores too.
bench: environment ## searches of this service and its peers side by side; SIZE=1000000 BENCH="--workload hot"
	@$(BIN)/gear-node start --jvm full --heap 2g
	@$(BIN)/python -m bench search --items $(SIZE) --seconds 2 $(BENCH)

.PHONY: coverage
coverage: environment ## fails where a branch of a framework-free module has no unit test
	@mkdir -p var
	@$(BIN)/python -m pytest tests/unit --cov --cov-report=term-missing -n 2 $(UNIT_TESTS)

.PHONY: test-compose
test-compose: environment ## what needs containers: both compose files from build to removal, and the death of a node
	@$(BIN)/python -m pytest tests/compose tests/faults/search/test_node_death.py -m docker

.PHONY: deployment-tools
deployment-tools: var/tools var/tools/bin/helm var/tools/bin/kube-apiserver var/tools/bin/etcd ## what the tests of deploy/ run, built here (minutes)

.PHONY: test-deployment
test-deployment: environment var/tools var/tools/bin/helm ## deploy/: roles on a secured engine, the proxy, the chart; skips where a tool is missing
	@$(BIN)/python -m pytest tests/deployment --ignore tests/deployment/test_kubernetes.py

.PHONY: test-kubernetes
test-kubernetes: environment var/tools/bin/helm var/tools/bin/kube-apiserver var/tools/bin/etcd ## the chart at a real API server of Kubernetes, built the first time (needs go)
	@$(BIN)/python -m pytest tests/deployment/test_kubernetes.py

# The tools of a release, apart from what the service and its tests need.
var/tools: deploy/tools/requirements.txt
	@$(PYTHON) -m venv $@ && $@/bin/pip install -q -r $< && touch $@

# Those that are Go programs are built from their modules, by the hashes in deploy/tools. Without go or a network the
# tests that need them skip.
build_tool = command -v $(GO) >/dev/null || { echo "$(@F) is not built, there is no go: install Go 1.26 or newer" >&2; exit 0; }; \
	echo "building $(@F) (minutes the first time)" >&2; \
	cd $(<D) && version=$$($(GO) list -m -f '{{.Version}}' $(1)) \
		&& CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -ldflags "-s -w $(3)" -o "$(CURDIR)/$@" $(2) \
		|| echo "$(@F) could not be built: is there a network, and is Go 1.26 or newer?" >&2

var/tools/bin/helm: deploy/tools/helm/go.mod deploy/tools/helm/go.sum | var/tools
	@$(call build_tool,helm.sh/helm/v3,helm.sh/helm/v3/cmd/helm,-X helm.sh/helm/v3/internal/version.version=$$version)

var/tools/bin/kube-apiserver: deploy/tools/kubernetes/go.mod deploy/tools/kubernetes/go.sum | var/tools
	@$(call build_tool,k8s.io/kubernetes,k8s.io/kubernetes/cmd/kube-apiserver,-X k8s.io/component-base/version.gitVersion=$$version)

var/tools/bin/etcd: deploy/tools/kubernetes/go.mod deploy/tools/kubernetes/go.sum | var/tools
	@$(call build_tool,go.etcd.io/etcd/server/v3,go.etcd.io/etcd/server/v3)

.PHONY: image
image: ## the image gear:local; its files have the time of the commit
	@SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) docker build --build-arg SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) -t gear:local .

.PHONY: bill-of-materials
bill-of-materials: var/tools ## dist/gear.cdx.json: what the image has of Python, as CycloneDX
	@mkdir -p dist
	@var/tools/bin/cyclonedx-py requirements requirements.txt --pyproject pyproject.toml --output-reproducible -o dist/gear.cdx.json

.PHONY: audit
audit: var/tools ## fails where a locked dependency has a known vulnerability; AUDIT="--vulnerability-service osv"
	@var/tools/bin/pip-audit --strict --require-hashes --disable-pip -r requirements.txt $(AUDIT)

.PHONY: docs
docs: environment ## writes docs/api.md and docs/cli.md anew
	@$(BIN)/python -m tests.docs.write

.PHONY: lock
lock: ## pins the newest tested set of dependencies anew (needs uv)
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --upgrade \
		--extra node --extra redis --extra kafka --extra mcp --extra otel --extra test pyproject.toml -o requirements-dev.txt
	grep -E '^[a-zA-Z].*==' requirements-dev.txt | sed 's/ \\$$//' > var/constraints.txt
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		-c var/constraints.txt --extra redis --extra kafka pyproject.toml -o requirements.txt

.PHONY: clients
clients: environment ## writes the types of the clients anew from the OpenAPI description (needs uv and npm)
	@mkdir -p var && $(BIN)/gear-api openapi > var/openapi.json
	uvx -q --from datamodel-code-generator==0.89.0 datamodel-codegen --input var/openapi.json --input-file-type openapi --output clients/python/gear_client/models.py \
		--output-model-type typing.TypedDict --target-python-version 3.11 --use-standard-collections --use-union-operator \
		--use-schema-description --use-field-description --disable-timestamp --enum-field-as-literal all \
		--collapse-root-models --no-use-closed-typed-dict --formatters builtin \
		--custom-file-header '"""Requests and responses of the HTTP API; written by `make clients`."""'
	$(BIN)/ruff format -q clients/python/gear_client/models.py
	cd clients/typescript && npm ci -s && npm run -s types

.PHONY: site
site: ## all pages as a site with a search, in var/pages/site/ (needs uv)
	@rm -rf var/pages && mkdir -p var/pages/pages
	@git ls-files -z ':!data/*.gz' ':!tests/golden' | tar -c --null -T - | tar -x -C var/pages/pages
	@mv var/pages/pages/docs/mkdocs.yml var/pages/
	uvx -q zensical==0.0.73 build --strict -f var/pages/mkdocs.yml
	@echo "var/pages/site/index.html"
