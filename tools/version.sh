#!/bin/sh
# Prints the version of the sources, which all crates have.
set -eu
cd "$(dirname "$0")/.."
sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml
