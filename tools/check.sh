#!/usr/bin/env bash
# make check: everything that can be found without running a workflow. Every
# check runs, also after one has failed; each prints its name and its time.
set -uo pipefail
cd "$(dirname "$0")/.."
export CGO_ENABLED=0 GOFLAGS="${GOFLAGS:--buildvcs=false}"

. tools/tool.sh

format() {
  local bad
  bad=$(git ls-files --cached --others --exclude-standard '*.go' | while read -r f; do [ -f "$f" ] && echo "$f"; done | xargs gofmt -l) || return 1
  [ -z "$bad" ] || { echo "not formatted (make fmt):"; echo "$bad"; return 1; }
}

scripts() {
  local f code=0
  for f in tools/*.sh .ci/run; do bash -n "$f" || code=1; done
  return $code
}

vet() {
  local tags code=0
  for tags in "" integration e2e integration,record e2e,record; do go vet -tags "$tags" ./... || { echo "with tags \"$tags\""; code=1; }; done
  return $code
}

static() {
  tool staticcheck honnef.co/go/tools honnef.co/go/tools/cmd/staticcheck || return 1
  # One matrix: what only one of the tags uses is not unused.
  printf 'plain:\nintegration: -tags=integration\ne2e: -tags=e2e\nhistories: -tags=integration,record\nanswers: -tags=e2e,record\n' | "$tool" -matrix ./...
}

# Workflow code that would not replay: clocks, random numbers, maps in any order.
# workflowcheck is told that maps.Keys is harmless, which it is when sorted.
determinism() {
  tool workflowcheck go.temporal.io/sdk/contrib/tools/workflowcheck go.temporal.io/sdk/contrib/tools/workflowcheck || return 1
  if grep -rnE 'maps\.(Keys|Values|All)\(' --include='*.go' --exclude='*_test.go' workflows core | grep -v 'slices\.Sorted(maps\.Keys('; then
    echo "the order of a map, in code that workflows run"
    return 1
  fi
  "$tool" -config tools/check/workflowcheck.yaml ./workflows/...
}

architecture() { go test -count 1 ./internal/arch/...; }

documents() { go run ./internal/docgen -check; }

# within SECONDS COMMAND...: gives up after that time, where timeout(1) exists.
within() {
  local limit=$1
  shift
  if command -v timeout >/dev/null; then timeout "$limit" "$@"; else "$@"; fi
}

# Needs its data from the network: without it nothing is checked, and it says so.
vulnerabilities() {
  tool govulncheck golang.org/x/vuln golang.org/x/vuln/cmd/govulncheck || return 1
  if ! within 20 "$tool" -version 2>/dev/null | grep -q '^DB updated: [0-9]'; then
    echo "not checked: the vulnerability data cannot be reached"
    return "$unchecked"
  fi
  "$tool" ./...
}

unchecked=77
failed=""
# check TITLE FUNCTION: runs it, and prints what it says.
check() {
  local begin=$SECONDS output code word
  output=$("$2" 2>&1)
  code=$?
  case $code in
    0) word="ok  " ;;
    "$unchecked") word="--  " ;;
    *) word=FAIL; failed="$failed $2" ;;
  esac
  printf '%s %-44s %3d s\n' "$word" "$1" $((SECONDS - begin))
  if [ -n "$output" ] && [ "$code" -ne 0 ]; then echo "$output" | sed 's/^/       /'; fi
}

begin=$SECONDS
check "format: gofmt" format
check "scripts: bash -n" scripts
check "vet, with each build tag" vet
check "staticcheck, with each build tag" static
check "workflowcheck: workflows replay" determinism
check "architecture: who may import whom, documents" architecture
check "generated references are in step" documents
check "govulncheck: known vulnerabilities" vulnerabilities
echo "check: $((SECONDS - begin)) s"
if [ -n "$failed" ]; then
  echo "failed:$failed"
  exit 1
fi
