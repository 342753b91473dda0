#!/bin/sh
# make dist-binary: programs for all systems of this processor whose C library is 2.17 (2012) or newer, with what make install needs
# besides: target/dist/replay-VERSION-MACHINE-linux.tar.xz, with its checksum beside it. Who has unpacked it needs no compiler and
# no MPI: make install PREFIX=DIR, or without make tools/install.sh DIR.
#
# zig links against that C library; cargo-zigbuild lets cargo use it. Both come from PyPI if they are not at hand.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=tools/environment.sh
. tools/environment.sh
oldest=2.17
triple=$(uname -m)-unknown-linux-gnu
name=replay-$(tools/version.sh)-$(uname -m)-linux
[ -z "$(git status --porcelain)" ] || echo "make dist-binary: documents and scripts are those of the commit; what is not committed is left out of them" >&2

if ! has cargo-zigbuild; then
    zig=$PWD/target/zig
    [ -x "$zig/bin/cargo-zigbuild" ] || {
        rm -rf "$zig"
        python3 -m venv "$zig"
        "$zig/bin/pip" install -q --disable-pip-version-check cargo-zigbuild==0.24.1 ziglang==0.17.1
    }
    PATH=$zig/bin:$PATH
fi

# Nothing tells of the directories that it was built in.
RUSTFLAGS="${RUSTFLAGS:-} --remap-path-prefix=$PWD=replay --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo"
time=$(git log -1 --format=%ct)
export RUSTFLAGS SOURCE_DATE_EPOCH="$time"
# shellcheck disable=SC2086 # several words, or none
cargo zigbuild --release --target "$triple.$oldest" --target-dir target/binary $REPLAY_OPENS_MPI ${CARGO_FLAGS:-}
built=target/binary/$triple/release

rm -rf "target/dist/$name"
mkdir -p "target/dist/$name"
# shellcheck disable=SC2046 # paths without spaces
git archive HEAD -- $(cat packaging/binary/contents) | tar -x -C "target/dist/$name"
git archive HEAD:packaging/binary -- Makefile | tar -x -C "target/dist/$name"
# What tools/version.sh reads there.
cat >"target/dist/$name/VERSION" <<END
version=$(tools/version.sh)
commit=$(git describe --always --tags --abbrev=40)
time=$time
END
programs=target/dist/$name/programs
mkdir -p "$programs"
for file in replay-analyze replay-import replay-record replay-scan replay-show libreplay_recorder.so libreplay_io.so; do
    strip --strip-unneeded --remove-section=.comment -o "$programs/$file" "$built/$file"
    needs=$(objdump -T "$programs/$file" | sed -n 's/.*(\{0,1\}GLIBC_\([0-9.]*\).*/\1/p' | sort -uV | tail -n 1)
    if [ "$(printf '%s\n' "$needs" "$oldest" | sort -V | tail -n 1)" != "$oldest" ]; then
        echo "make dist-binary: $file needs the C library $needs, newer than $oldest" >&2
        exit 1
    fi
done
# shellcheck disable=SC2086 # several words, or none
CARGO_FLAGS=${CARGO_FLAGS:-} tools/third-party.sh $REPLAY_OPENS_MPI >"$programs/THIRD-PARTY"
if has cargo-cyclonedx; then
    tools/sbom.sh >/dev/null
    install -D -m 644 -t "target/dist/$name/target/sbom" target/sbom/*.cdx.json
else
    echo "make dist-binary: skipped: the lists of crates, as cargo-cyclonedx is missing (cargo install cargo-cyclonedx)" >&2
fi

cd target/dist
tar -c --sort=name --mtime="@$time" --owner=0 --group=0 --numeric-owner --mode=go=rX "$name" | xz -T1 >"$name.tar.xz"
sha256sum "$name.tar.xz" >"$name.tar.xz.sha256"
rm -rf "$name"
ls -l "$PWD/$name.tar.xz"
