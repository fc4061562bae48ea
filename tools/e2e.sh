#!/usr/bin/env bash
# e2e.sh NAME PACKAGE...: runs the e2e tests of these packages, the longest first,
# two packages at a time (E2E_AT_ONCE): what they do most is wait, but more of them
# make each other late. Each test is told when it ends, what failed once more at the
# end with all that it printed, and the figures that tests measured. Everything else is
# in bin/NAME.json. Fuzz seeds are left to make test.
set -uo pipefail
cd "$(dirname "$0")/.."
. tools/tool.sh
name=$1
shift
tool gotestsum gotest.tools/gotestsum gotest.tools/gotestsum || exit 1
mkdir -p bin
all=bin/$name.json
begin=$SECONDS
"$tool" --format testname --format-hide-empty-pkg --jsonfile "$all" -- -tags e2e -skip '^Fuzz' -count 1 -p "${E2E_AT_ONCE:-2}" -timeout 60m "$@"
code=$?
echo
echo "figures of $name:"
sed -nE 's|.*"Action":"attr","Package":"([^"]*)","Test":"([^"]*)","Key":"([^"]*)","Value":"(.*)"}$|  \1.\2 \3: \4|p' "$all"
echo "$name: $((SECONDS - begin)) s; all that the tests printed is in $all"
exit $code
