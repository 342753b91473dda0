#!/bin/sh
# make dist-check: whether what make dist has made can be built without a network and installed, and runs. Takes as long as a
# build of everything. Writes to target/dist/check only.
set -eu
cd "$(dirname "$0")/.."

name=replay-$(tools/version.sh)
check=$PWD/target/dist/check
installed=$check/installed
rm -rf "$check"
mkdir -p "$check"
tar -xJf "target/dist/$name.tar.xz" -C "$check"
cd "$check/$name"

# A directory of cargo in which nothing has been fetched, and no network if the system lets us leave it.
for leave in 'unshare --net' 'unshare --map-root-user --net' ''; do
    # shellcheck disable=SC2086 # several words, or none
    $leave true 2>/dev/null && break
done
[ -n "$leave" ] || echo "make dist-check: skipped: the network cannot be cut off here; cargo is told not to use it" >&2
unset CARGO_TARGET_DIR MAKEFLAGS
export CARGO_HOME="$check/cargo"
# shellcheck disable=SC2086 # several words, or none
$leave make build-for-packages CARGO_FLAGS='--offline --locked'
tools/demo.sh

make install DESTDIR="$installed" PREFIX=/usr
"$installed/usr/bin/replay-analyze" --version
"$installed/usr/bin/replay-show" --version
"$installed/usr/libexec/replay/scan" --scout
"$installed/usr/bin/replay-record" true
test -s "$installed/usr/share/man/man7/replay.7"
rm -rf "$check"
echo "$name.tar.xz can be built without a network, and runs when it is installed."
