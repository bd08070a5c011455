# setup.sh: what tools/check and tools/quickstart share: packages, configure, make. Sourced.
# shellcheck shell=bash

export DEBIAN_FRONTEND=noninteractive
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# shellcheck disable=SC2034 # used where this is sourced
build_packages=(gcc make autoconf automake libc6-dev libyaml-dev zlib1g-dev libjansson-dev
    libopenblas-dev libpng-dev libturbojpeg0-dev)
jobs=$(nproc 2>/dev/null || echo 2)
installed_some=no # then configure must look again

say()
{
    printf '%s\n' "$*"
}

# die MESSAGE [LOG]: ends, with the end of the log
die()
{
    if [ -n "${2:-}" ] && [ -f "$2" ]; then
        tail -n 40 "$2"
        say "(the whole log: $2)"
    fi
    say "$0: error: $1" >&2
    exit 1
}

installed()
{
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

as_root()
{
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        die "not root and no sudo here: run as root: $*"
    fi
}

apt()
{
    as_root apt-get -qq -o DPkg::Lock::Timeout=300 "$@" </dev/null
}

# install PACKAGE...: those that are missing; does nothing where all are there. Where there is no
# dpkg, configure says what is missing.
install()
{
    local package missing=()
    command -v dpkg-query >/dev/null || return 0
    for package in "$@"; do
        installed "$package" || missing+=("$package")
    done
    command -v pkg-config >/dev/null || missing+=(pkgconf)
    [ "${#missing[@]}" -gt 0 ] || return 0
    say "installing: ${missing[*]}"
    apt update || say "apt-get update failed; trying with the lists that are here"
    apt install -y --no-install-recommends "${missing[@]}" >/dev/null ||
        die "apt-get could not install: ${missing[*]}"
    installed_some=yes
}

# build FOLDER [CONFIGURE OPTION]...: configures once, then makes
build()
{
    local folder=$root/$1 log=$root/$1/build.log
    shift
    mkdir -p "$folder"
    say "building in $folder"
    if [ ! -f "$root/configure" ] || [ ! -f "$root/Makefile.in" ]; then
        (cd "$root" && autoreconf -fi) >"$log" 2>&1 </dev/null || die "autoreconf failed" "$log"
    fi
    if [ ! -f "$folder/Makefile" ] || [ "$installed_some" = yes ]; then
        (cd "$folder" && "$root/configure" "$@") >"$log" 2>&1 </dev/null ||
            die "configure failed" "$log"
    fi
    make -C "$folder" -j "$jobs" >"$log" 2>&1 </dev/null || die "the build failed" "$log"
}
