#!/bin/sh
# make deb: a package for Debian and its relatives, target/packages/replay_VERSION-1_ARCHITECTURE.deb; the same bytes each time for
# the same sources, compiler and maintainer, whom DEBFULLNAME and DEBEMAIL name. Needs dpkg-dev and binutils.
set -eu
cd "$(dirname "$0")/.."

version=$(tools/version.sh)-1
architecture=$(dpkg-architecture -qDEB_HOST_ARCH)
libdir=lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
maintainer="${DEBFULLNAME:-The Replay developers} <${DEBEMAIL:-$(id -un)@$(hostname -f)}>"
if [ -z "${SOURCE_DATE_EPOCH:-}" ]; then
    SOURCE_DATE_EPOCH=$(sed -n 's/^time=//p' VERSION 2>/dev/null || git log -1 --format=%ct)
fi
export SOURCE_DATE_EPOCH
umask 022

packages=$PWD/target/packages
stage=$packages/debian/replay
doc=$stage/usr/share/doc/replay
rm -rf "$packages/debian"
mkdir -p "$stage/DEBIAN"
"${MAKE:-make}" --no-print-directory build-for-packages
"${MAKE:-make}" --no-print-directory install DESTDIR="$stage" PREFIX=/usr LIBDIR="$libdir"

# The recorder for statically linked programs and web pages of the documents are there only if somebody has made them.
rm -rf "$stage/usr/$libdir/replay/libreplay_recorder.a" "$doc/html"
strip --remove-section=.comment "$stage"/usr/bin/*
strip --strip-unneeded --remove-section=.comment "$stage/usr/$libdir"/replay/*.so
gzip -9n "$stage"/usr/share/man/*/*

mv "$doc/CHANGELOG.md" "$doc/changelog"
gzip -9n "$doc/changelog"
gzip -9n >"$doc/changelog.Debian.gz" <<END
replay ($version) unstable; urgency=medium

  * Package of the release; see changelog.gz.

 -- $maintainer  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
END
{
    cat <<'END'
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Replay

Files: *
Copyright: The Replay developers
License: Expat or Apache-2.0
Comment: The programs contain crates of others; THIRD-PARTY has their names and licences.

License: Apache-2.0
 See /usr/share/common-licenses/Apache-2.0.

License: Expat
END
    # Lines without text are dots there.
    sed -n '/^Permission/,$ { s/^$/./; s/^/ /; p }' "$doc/LICENSE-MIT"
} >"$doc/copyright"
rm "$doc"/LICENSE-*

# Libraries that the programs need, as dependencies on packages.
printf 'Source: replay\n\nPackage: replay\nArchitecture: any\n' >"$packages/debian/control"
depends=$(cd "$packages" && dpkg-shlibdeps -O debian/replay/usr/bin/* debian/replay/usr/"$libdir"/replay/*.so |
    sed -n 's/^shlibs:Depends=//p')

(cd "$stage" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum >DEBIAN/md5sums)
cat >"$stage/DEBIAN/control" <<END
Package: replay
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -k -s --apparent-size "$stage/usr" | cut -f 1)
Depends: $depends
Recommends: openmpi-bin | mpich
Section: science
Priority: optional
Description: wait states of MPI programs and their causes
 Replay finds out where the ranks of an MPI program waited for each other, and
 why. It records a program as it is, or reads traces that Score-P has written,
 and shows what is wrong, where, and because of whom.
END
dpkg-deb --root-owner-group --build "$stage" "$packages/replay_${version}_$architecture.deb"
rm -rf "$packages/debian"
