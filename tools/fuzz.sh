#!/usr/bin/env bash
# make fuzz: fuzzes every target for a time, one after the other. All of them
# run, also after one has failed. What a failure found is in testdata/fuzz of
# its package, and from then on a case of the ordinary tests.
#
#   tools/fuzz.sh [TIME [NAME]]     TIME such as 60s; NAME a part of a target's name
set -uo pipefail
cd "$(dirname "$0")/.."
export CGO_ENABLED=0 GOFLAGS="${GOFLAGS:--buildvcs=false}"
time=${1:-60s}
only=${2:-}

found=0
failed=""
while IFS=: read -r file line; do
  name=$(echo "$line" | sed -E 's/^func (Fuzz[A-Za-z0-9_]*).*/\1/')
  case $name in *"$only"*) ;; *) continue ;; esac
  found=$((found + 1))
  # A target in a file with one build tag needs that tag.
  tag=$(sed -nE '1,5s/^\/\/go:build ([a-z0-9]+)$/\1/p' "$file" | head -n 1)
  echo "== $name in $(dirname "$file"), $time"
  # Making an input smaller that covers something new costs most of a minute
  # where inputs are large: ten tries are enough.
  if ! go test -tags "$tag" -run '^$' -fuzz "^$name\$" -fuzztime "$time" -fuzzminimizetime 10x "./$(dirname "$file")"; then
    failed="$failed $name"
  fi
done < <(git ls-files --cached --others --exclude-standard '*_test.go' | while read -r f; do [ -f "$f" ] && grep -HE '^func Fuzz[A-Za-z0-9_]*\(' "$f"; done)

if [ "$found" -eq 0 ]; then
  echo "no fuzz target was found"
  exit 1
fi
echo "fuzz: $found targets"
if [ -n "$failed" ]; then
  echo "failed:$failed"
  exit 1
fi
