#!/bin/sh
# make dist: the sources of the commit that is checked out, with all crates that they need, in one file that builds without a
# network: target/dist/replay-VERSION.tar.xz, with its checksum beside it. The same bytes each time.
set -eu
cd "$(dirname "$0")/.."

name=replay-$(tools/version.sh)
time=$(git log -1 --format=%ct)
[ -z "$(git status --porcelain)" ] || echo "make dist: what is not committed is left out" >&2

rm -rf target/dist
mkdir -p target/dist
git archive --prefix="$name/" HEAD | tar -x -C target/dist
# For whoever has no git: packaging/deb.sh takes its dates from it.
cat >"target/dist/$name/VERSION" <<END
commit=$(git describe --always --tags --abbrev=40)
time=$time
END
cd "target/dist/$name"
mkdir .cargo
# What it prints is what cargo needs to find them; with --quiet it is nothing.
cargo vendor --locked >.cargo/config.toml
cd ..
tar -c --sort=name --mtime="@$time" --owner=0 --group=0 --numeric-owner --mode=go=rX "$name" | xz -T1 >"$name.tar.xz"
sha256sum "$name.tar.xz" >"$name.tar.xz.sha256"
rm -rf "$name"
ls -l "$PWD/$name.tar.xz"
