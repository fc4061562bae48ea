# Sourced: tools written in Go, pinned in tools/check/go.mod and built once into the
# cache.

# The folder of internal/toolcache.
if [ -n "${FLINKSCALER_CACHE:-}" ]; then
  bin=$FLINKSCALER_CACHE/bin
elif [ "$(uname)" = Darwin ]; then
  bin=$HOME/Library/Caches/flinkscaler/bin
else
  bin=${XDG_CACHE_HOME:-$HOME/.cache}/flinkscaler/bin
fi

# tool NAME MODULE PACKAGE: builds it unless the cache has that version, and
# leaves its path in $tool.
tool() {
  local version
  version=$(GOWORK=off go -C tools/check list -m -f '{{.Version}}' "$2") || return 1
  tool=$bin/$1-${version#v}
  [ -x "$tool" ] && return 0
  echo "building $1 $version, once ..."
  mkdir -p "$bin"
  # Another run may build it too: the last one to finish wins, and both are whole.
  GOWORK=off go -C tools/check build -trimpath -ldflags='-s -w' -o "$tool.$$" "$3" && mv "$tool.$$" "$tool"
}
