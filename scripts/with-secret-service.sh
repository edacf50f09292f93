#!/bin/sh
# Runs the tests of the real Secret Service, in a session of its own with an unlocked keyring. Installs what is missing
# (Debian, as root) and builds keytar once, into node_modules/.keytar. Words after the name go to vitest.
set -eu
cd "$(dirname "$0")/.."

for program in dbus-daemon dbus-run-session gnome-keyring-daemon gdbus pkg-config make g++ python3; do
  command -v "$program" >/dev/null || missing="${missing-} $program"
done
pkg-config --exists libsecret-1 2>/dev/null || missing="${missing-} libsecret-1"
if [ -n "${missing-}" ]; then
  echo "installing what provides:$missing" >&2
  apt-get update -qq >/dev/null
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    libsecret-1-dev gnome-keyring dbus libglib2.0-bin pkg-config make g++ python3 >/dev/null
fi

# One for each Node: native code does not fit another.
keytar="$PWD/node_modules/.keytar/$(node -p 'process.platform + "-" + process.versions.modules')"
if ! [ -e "$keytar/node_modules/keytar/build/Release/keytar.node" ]; then
  mkdir -p "$keytar"
  # The headers that came with this Node, if they did, spare a download of the same.
  headers=$(node -p 'path.resolve(process.execPath, "../..")')
  [ -e "$headers/include/node/node.h" ] && export npm_config_nodedir="$headers"
  npm install --prefix "$keytar" --no-save --no-audit --no-fund --loglevel=error keytar@7.9.0 >&2
fi

session=$(mktemp -d)
trap 'rm -rf "$session"' EXIT
mkdir "$session/run" "$session/data"
chmod 700 "$session/run"
unset DISPLAY WAYLAND_DISPLAY # nobody is there to answer a prompt
export HOME="$session" XDG_RUNTIME_DIR="$session/run" XDG_DATA_HOME="$session/data"
export MILLRACE_REQUIRE_SECRET_SERVICE=1 MILLRACE_TEST_KEYTAR="$keytar" MILLRACE_REPORT=os-store
# What the services of the session say of the prompts that fail is not ours; what vitest says is.
dbus-run-session -- sh -c '
  printf %s test | gnome-keyring-daemon --unlock --components=secrets >/dev/null
  cd packages/oauth
  # One keyring and one bus: what one file locks or writes another would see.
  exec ../../node_modules/.bin/vitest run --no-file-parallelism test/stores/secret-service "$@" 2>&3' sh "$@" 3>&2 2>/dev/null
