#!/bin/sh
# make book: the documentation as web pages in target/book, which work from disk without a network. Pages that lie outside of docs/ are
# brought in, and links to sources become text, since there are no sources beside an installed book.
set -eu
cd "$(dirname "$0")/.."

mdbook=${MDBOOK:-mdbook}
if ! command -v "$mdbook" >/dev/null 2>&1; then
    echo "make book: mdbook is missing: install it with cargo install mdbook, or name it with MDBOOK=PATH" >&2
    exit 1
fi

pages=target/book-src
rm -rf $pages target/book
mkdir -p $pages
cp -r docs/. $pages
cp README.md $pages/index.md
cp CHANGELOG.md $pages
cp jobscripts/README.md $pages/jobs.md

# Links from the root of the project and from jobscripts/ first, then those from docs/. What still leads out of the book is a source.
sed -i -e 's#](docs/#](#g' -e 's#](jobscripts/README\.md#](jobs.md#g' -e 's#\[\([^]]*\)\](LICENSE-[A-Z]*)#\1#g' $pages/index.md $pages/CHANGELOG.md
sed -i -e 's#](\.\./docs/#](#g' $pages/jobs.md
sed -i -e 's#](\.\./README\.md#](index.md#g' -e 's#](\.\./CHANGELOG\.md#](CHANGELOG.md#g' -e 's#](\.\./jobscripts/README\.md#](jobs.md#g' \
    -e 's#\[\([^]]*\)\](\.\./[^)]*)#\1#g' $pages/*.md

"$mdbook" build
echo "The documentation is in target/book/index.html"
