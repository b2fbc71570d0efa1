# One line a command; anything longer is a file under scripts/.
GO ?= go
TOOL = $(GO) tool -modfile=tools/go.mod
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS = -s -w -X main.version=$(VERSION)
.DEFAULT_GOAL := help
.PHONY: help build test race lint gen fuzz bench ratios cover docker image debezium deps clients hunt hammer kills scale release soak ci

help: ## list the commands
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 10

build: ## the static binary ./cartorio
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o cartorio ./cmd/cartorio

test: ## set up what the tests need, run everything, name what could not run
	scripts/test.sh

race: ## every test under the race detector, without brokers
	scripts/race.sh

lint: ## format and lint
	$(TOOL) golangci-lint run --allow-parallel-runners ./... && $(TOOL) golangci-lint fmt --diff ./...

gen: ## write what is made from code
	$(GO) generate ./... && scripts/deps.sh > docs/deps.txt

fuzz: ## every fuzz target for FUZZTIME (20s)
	scripts/fuzz.sh

bench: ## every benchmark
	$(GO) test -run '^$$' -bench . -benchmem ./...

ratios: ## what we take beside what others take, held to scripts/ratios.txt; ROWS picks some, WRITE=1 keeps them
	$(GO) run ./scripts/ratios $(if $(ROWS),-rows '$(ROWS)') $(if $(WRITE),-write)

cover: ## coverage by package
	$(GO) test -coverprofile=cover.out ./... && $(GO) tool cover -func=cover.out | tail -1

clients: ## foreign clients against a server of this tree
	scripts/clients.sh

hunt: ## look for wrong verdicts in all formats for HUNT (1h); CARTORIO_REAL names a folder of schemas
	CARTORIO_HUNT=$${HUNT:-1h} $(GO) test -run '^Test.*Hunt(Grown)?$$' -count 1 -v -timeout 0 ./compat/avro ./compat/jsonschema ./compat/protobuf

hammer: ## fuzz the HTTP surface for HAMMERTIME seconds (3600)
	scripts/schemathesis.sh $${HAMMERTIME:-3600}

scale: ## import, start and list 100,000 versions in 8,000 subjects
	CARTORIO_SCALE=100000 $(GO) test -run TestScale -count 1 -v ./registry/transfer

kills: ## kill -9 a registering server 50 times
	CARTORIO_KILLS=50 $(GO) test -run Kill -count 1 -v ./registry/...

release: ## the binaries of a release and their digests, into dist/
	scripts/release.sh

soak: ## messages over three brokers for SOAK (20m), consumers killed and the registry away
	scripts/soak.sh

docker: ## the container image cartorio:dev
	docker build -t cartorio:dev .

image: ## build both images with buildah and run them, without a daemon
	scripts/image-test.sh

debezium: ## Debezium itself on the outbox, killed in the middle
	scripts/debezium.sh test

ci: ## what a pull request must pass
	scripts/ci.sh
