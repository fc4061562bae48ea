# flinkscaler. `make` alone shows what there is.
SHELL := /bin/bash
.DEFAULT_GOAL := help

export GOFLAGS ?= -buildvcs=false
export CGO_ENABLED ?= 0

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)
ENSURE := go run ./tools/ensure
# What the tests on a plain Flink run.
FLINK_TOOLS := temporal tctl flink:2.3.0 flink:1.20.5 testjob oracle
# What the Kubernetes tests run: a control plane, the operator, and the Flink that it understands.
KUBE_TOOLS := kube render flink-operator flink:1.18.1 testjob
# What the YARN tests run: the daemons of Hadoop, and both lines of Flink.
HADOOP_TOOLS := hadoop krb5 flink:2.3.0 flink:1.20.5 testjob
# Releases of Hadoop that are only looked at, in e2e-full.
HADOOP_OTHERS := 3.3.6 3.5.0
# timed NAME COMMAND: runs it and prints how long it took.
timed = @start=$$(date +%s); ( $(2) ); code=$$?; echo "$(1): $$(( $$(date +%s) - start )) s"; exit $$code

.PHONY: help
help: ## Show this help
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

.PHONY: demo
demo: ## Watch a Flink job being scaled (DEMO=60s ends by itself; FLINK=2.3.0 uses a real Flink)
	@$(ENSURE) temporal $(if $(FLINK),flink:$(FLINK) testjob)
	@echo "building the worker, the starter and the demo ..."
	@mkdir -p bin && go build -o bin/flinkscaler-worker ./worker && go build -o bin/flinkscaler ./starter && go build -o bin/flinkscaler-demo ./internal/demo/cmd/flinkscaler-demo
	@exec bin/flinkscaler-demo $(if $(DEMO),--for $(DEMO)) $(if $(FLINK),--flink $(FLINK))

.PHONY: test
test: ## Everything that needs no real Flink: unit tests, and a real Temporal server with a simulated Flink
	@$(ENSURE) temporal tctl
	$(call timed,test,go test -tags integration -timeout 20m ./...)

.PHONY: unit
unit: ## Unit tests only: nothing real, seconds
	$(call timed,unit,go test -timeout 10m ./...)

# The packages with tests of real systems; those that take longest begin first.
E2E_LONG := ./e2e ./e2e/yarn
E2E_FLINK := ./e2e ./e2e/oracle/... ./adapters/flink/... ./e2e/chaos/... ./internal/flinklocal/... ./internal/flinksim/... ./e2e/proxy/... ./e2e/testjob/...
E2E_K8S := ./e2e/k8s ./adapters/k8s/... ./internal/kubelocal/... ./internal/kubesim/... ./e2e/k8s/deploy/...
E2E_YARN := ./e2e/yarn/... ./adapters/yarn/... ./e2e/hadoop/... ./adapters/kerberos/... ./adapters/hdfs/... ./internal/kdclocal/...

.PHONY: e2e
e2e: e2e-needs ## Real Flink, Temporal server, Kubernetes API, operator, YARN and HDFS, tctl, kill -9
	@$(ENSURE) $(FLINK_TOOLS) $(KUBE_TOOLS) $(HADOOP_TOOLS)
	@bash tools/e2e.sh e2e $(E2E_LONG) $(E2E_FLINK) $(E2E_YARN) $(E2E_K8S)

.PHONY: e2e-flink
e2e-flink: e2e-needs ## The part of it that needs Flink alone
	@$(ENSURE) $(FLINK_TOOLS)
	@bash tools/e2e.sh e2e-flink $(E2E_FLINK)

.PHONY: e2e-k8s
e2e-k8s: e2e-needs ## Real Kubernetes API server and controllers, real Flink operator, real Flink behind it
	@$(ENSURE) temporal tctl $(KUBE_TOOLS)
	@bash tools/e2e.sh e2e-k8s $(E2E_K8S)

.PHONY: e2e-yarn
e2e-yarn: e2e-needs ## Real HDFS, YARN and ZooKeeper, real Flink on them
	@$(ENSURE) temporal tctl $(HADOOP_TOOLS)
	@bash tools/e2e.sh e2e-yarn $(E2E_YARN)

.PHONY: e2e-oracle
e2e-oracle: ## Our strategy against the Java autoscaler itself on random jobs (SEED, CASES; needs a JDK and mvn)
	@$(ENSURE) oracle
	@go run ./e2e/oracle/cmd/oracle $(if $(SEED),-seed $(SEED)) $(if $(CASES),-cases $(CASES))

.PHONY: chaos
chaos: ## Faults at each step of rescales on a real Flink, judged (SEED, FAULTS=200; needs a JDK and Python)
	@$(ENSURE) temporal flink:2.3.0 testjob
	@go run ./e2e/chaos/cmd/chaos $(if $(SEED),-seed $(SEED)) $(if $(FAULTS),-faults $(FAULTS))

.PHONY: chaos-sim
chaos-sim: ## The same on a simulated Flink (SEED, FAULTS=1000)
	@$(ENSURE) temporal
	@go run ./e2e/chaos/cmd/chaos -simulated -faults $(or $(FAULTS),1000) $(if $(SEED),-seed $(SEED))

.PHONY: e2e-full
e2e-full: e2e ## make e2e, the other releases of Hadoop, all of chaos, more random jobs against the Java autoscaler, and each fuzz target for 60 s
	$(call timed,hadoop-versions,for v in $(HADOOP_OTHERS); do $(ENSURE) hadoop:$$v && HADOOP_VERSION=$$v go test -v -tags e2e -count 1 -timeout 20m -run TestShape ./e2e/hadoop || exit 1; done)
	$(call timed,chaos-sim,$(MAKE) --no-print-directory chaos-sim)
	$(call timed,chaos,$(MAKE) --no-print-directory chaos)
	$(call timed,oracle,CASES=50000 $(MAKE) --no-print-directory e2e-oracle)
	$(call timed,properties,go test -count 1 $$(git grep -l pgregory.net/rapid -- 'core/*_test.go' | xargs -n 1 dirname | sort -u | sed 's|^|./|') -rapid.checks=5000)
	$(call timed,fuzz,$(MAKE) --no-print-directory fuzz FUZZTIME=60s)

.PHONY: e2e-needs
e2e-needs:
	@for t in java javac python3 mvn; do command -v $$t >/dev/null || missing="$$missing $$t"; done; \
	  if [ -n "$$missing" ]; then echo "make e2e needs on the PATH:$$missing"; exit 1; fi

.PHONY: build
build: ## Build the worker and the starter into bin/
	go build -trimpath -o bin/flinkscaler-worker -ldflags '$(LDFLAGS)' ./worker
	go build -trimpath -o bin/flinkscaler -ldflags '$(LDFLAGS)' ./starter

.PHONY: tools
tools: ## Build or fetch everything the tests need, into the cache
	@$(ENSURE) $(FLINK_TOOLS) $(KUBE_TOOLS) $(HADOOP_TOOLS)

.PHONY: fmt
fmt: ## Format the code
	gofmt -w $$(git ls-files '*.go')

.PHONY: check
check: ## Format, vet, staticcheck, workflowcheck, architecture, generated files
	@bash tools/check.sh

.PHONY: generate
generate: ## Write the generated references anew
	go run ./internal/docgen

.PHONY: fuzz
fuzz: ## Fuzz each target for FUZZTIME (60s)
	@bash tools/fuzz.sh $(or $(FUZZTIME),60s)

.PHONY: race
race: ## Unit tests with the race detector (needs a C compiler)
	CGO_ENABLED=1 go test -race -timeout 20m ./...

.PHONY: bench
bench: ## Costs of an idle cycle on a real Temporal server
	@$(ENSURE) temporal
	go test -tags integration -run "^$$" -bench . -benchtime 1x ./bench/...

.PHONY: record
record: ## Record golden histories of the present workflows for the replay test
	@$(ENSURE) temporal
	go test -tags integration,record -count 1 -run TestRecordHistories ./e2e/...
	go test -tags integration,record -count 1 -run TestRecordHistories ./workflows

.PHONY: up
up: ## Temporal with PostgreSQL and UI, a Flink session cluster and the worker, in Docker
	docker compose up --build --detach --wait

.PHONY: down
down: ## End what `make up` started
	docker compose down --volumes

.PHONY: clean
clean: ## Remove what was built here (the cache stays)
	rm -rf bin
