#!/bin/sh
# Downloads a released ctxsim for this platform into a folder and checks it: `sh install.sh FOLDER [VERSION]`; needs curl. Compiles nothing, unless no
# version is named and none is listed: until there is a release, it builds the checkout that it lies in, which needs cargo.
#
# Every archive that may be installed has its checksum in checksums.txt beside this file, so whoever pins this repository pins the archives, too. The
# newest version there is the default. CTXSIM_SHA256 is the checksum of an archive that is not listed. CTXSIM_DOWNLOADS is where archives are, instead
# of the releases of the repository: a URL under which there is v0.1.0/ctxsim-0.1.0-TARGET.tar.gz.
set -eu
# Letters are those of ASCII.
export LC_ALL=C
here="$(cd "$(dirname "$0")" && pwd)"
. "$here/names.env"
checksums="${CTXSIM_CHECKSUMS:-$here/checksums.txt}"
folder="$1"
version="${2:-}"
sha256="${CTXSIM_SHA256:-}"

refuse() {
    # A line end would begin another command of the runner.
    echo "::error title=ctxsim was not installed::$1" | tr -d '\r' | tr '\n' ' ' >&2
    echo >&2
    exit 2
}

# Refuses a value with any other character than these: `allowed WHAT VALUE CHARACTERS`. What is allowed means nothing to a shell, a pattern or a URL.
allowed() {
    case "$2" in
        -* | .* | *[!$3]*) refuse "$1 has characters that it cannot have: letters, digits and some of . + _ - are allowed" ;;
    esac
}

# The checksum of an archive that checksums.txt lists.
listed() {
    while read -r listed_sum listed_name || [ -n "$listed_sum" ]; do
        if [ "$listed_name" = "$1" ]; then
            echo "$listed_sum"
            break
        fi
    done < "$checksums"
}

target() {
    machine="$(uname -m)"
    case "$machine" in
        arm64) machine=aarch64 ;;
        amd64) machine=x86_64 ;;
    esac
    case "$(uname -s)" in
        Linux)
            # A system without glibc's loader, or with an old one, takes the build that needs none.
            if getconf GNU_LIBC_VERSION 2>/dev/null | awk '{ split($2, it, "."); exit !(it[1] > 2 || it[2] >= 35) }'; then
                echo "$machine-unknown-linux-gnu tar.gz"
            else
                echo "$machine-unknown-linux-musl tar.gz"
            fi
            ;;
        Darwin) echo "$machine-apple-darwin tar.gz" ;;
        MINGW* | MSYS* | CYGWIN*) echo "$machine-pc-windows-msvc zip" ;;
        *) refuse "there is no build for $(uname -s) on $machine" ;;
    esac
}

sum() {
    if command -v sha256sum > /dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

case "$folder" in
    -* | *[[:cntrl:]]*) refuse "the folder has characters that it cannot have" ;;
esac
if [ -z "$version" ]; then
    version="$(sed -n 's/^[0-9a-f]*  ctxsim-\([^-]*\)-.*/\1/p' "$checksums" | tail -1)"
fi
if [ -z "$version" ]; then
    command -v cargo > /dev/null || refuse "no release is listed in $checksums, and there is no cargo to build it: name a version and set its checksum"
    mkdir -p "$folder"
    built="$(cd "$folder" && pwd)"
    # The folder of the checkout, so that no configuration of the folder that is checked is read.
    cd "$here/.."
    cargo install --locked --path . --root "$built/build" --bin ctxsim >&2 || refuse "no release is listed in $checksums, and its checkout cannot be built"
    for file in "$built"/build/bin/ctxsim*; do
        mv -f "$file" "$built/"
    done
    rm -rf "$built/build"
    [ -z "${GITHUB_PATH:-}" ] || echo "$built" >> "$GITHUB_PATH"
    echo "ctxsim, built from this checkout"
    exit 0
fi
allowed "the version" "$version" 0-9A-Za-z.+-
allowed "the checksum" "$sha256" 0-9A-Fa-f
allowed "OWNER" "$OWNER" 0-9A-Za-z-
allowed "REPOSITORY" "$REPOSITORY" 0-9A-Za-z._-
downloads="${CTXSIM_DOWNLOADS:-}"
if [ -z "$downloads" ]; then
    [ -n "$OWNER" ] || refuse "set OWNER in .github/names.env: it is empty, so nobody publishes archives"
    downloads="https://github.com/$OWNER/$REPOSITORY/releases/download"
fi
found="$(target)"
name="ctxsim-$version-${found% *}"
archive="$name.${found#* }"
expected="${sha256:-$(listed "$archive")}"
[ -n "$expected" ] || refuse "$archive is not listed in $checksums: take a listed version, or set its checksum"

temporary="$(mktemp -d)"
trap 'rm -rf "$temporary"' EXIT
curl --fail --silent --show-error --location --proto '=https,file' --retry 3 --globoff --output "$temporary/$archive" --url "$downloads/v$version/$archive" \
    || refuse "$downloads/v$version/$archive cannot be downloaded"
actual="$(sum "$temporary/$archive")"
[ "$actual" = "$expected" ] || refuse "$archive has the checksum $actual, not $expected"
case "$archive" in
    *.zip) unzip -q "$temporary/$archive" -d "$temporary" ;;
    *) tar -xzf "$temporary/$archive" -C "$temporary" ;;
esac
mkdir -p "$folder"
# A program that runs at this moment, or an install that is cut off, finds the old one whole or the new one.
for file in "$temporary/$name"/ctxsim*; do
    cp "$file" "$folder/.${file##*/}.new.$$"
    mv -f "$folder/.${file##*/}.new.$$" "$folder/${file##*/}"
done
[ -z "${GITHUB_PATH:-}" ] || (cd "$folder" && pwd) >> "$GITHUB_PATH"
echo "ctxsim $version, $actual"
