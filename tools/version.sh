#!/bin/sh
# Prints the version of the sources, which all crates have. Packages of programs have no sources, but a file that names it.
set -eu
cd "$(dirname "$0")/.."
if [ -e Cargo.toml ]; then
    sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml
else
    sed -n 's/^version=//p' VERSION
fi
