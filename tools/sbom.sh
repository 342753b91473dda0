#!/bin/sh
# make sbom: which crates of others are in each program and library, with versions and licences, as files of CycloneDX:
# target/sbom/replay-analyze.cdx.json and so on. Of the commit that is checked out, with the features of packages. Needs cargo-cyclonedx.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=tools/environment.sh
. tools/environment.sh
if ! has cargo-cyclonedx; then
    echo "make sbom: cargo-cyclonedx is missing: cargo install cargo-cyclonedx" >&2
    exit 1
fi
time=$(git log -1 --format=%ct)

# It writes beside the sources, and the names of their directories.
rm -rf target/sbom
mkdir -p target/sbom/sources
git archive HEAD | tar -x -C target/sbom/sources
cd target/sbom/sources
# shellcheck disable=SC2086 # several words
SOURCE_DATE_EPOCH=$time cargo cyclonedx -q --format json --spec-version 1.5 --describe binaries --no-build-deps $REPLAY_OPENS_MPI
rm benches/generate/*.cdx.json
for file in *.cdx.json ./*/*.cdx.json ./*/*/*.cdx.json; do
    name=${file##*/}
    sed "s|$PWD|replay|g" "$file" >"../${name%_*}.cdx.json"
done
cd ..
rm -rf sources
ls "$PWD"/*.cdx.json
