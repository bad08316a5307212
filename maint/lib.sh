# SPDX-License-Identifier: BSD-3-Clause
# Shell functions shared by the scripts in maint/. Source it; it sets TOP, the top of the tree.

TOP=$(cd "$(dirname "$0")" && while [ ! -f configure.ac ] && [ "$PWD" != / ]; do cd ..; done && pwd)

say() { printf '%s\n' "$*"; }

# Each script says what it is for, by the comment that it begins with, behind that on its licence: when it is asked by
# --help, or called wrongly.
describe() { sed -n '3,/^set/s/^# \{0,1\}//p' "$0"; }
usage() { describe >&2; exit 2; }
# libabt_version: that of configure.ac.
libabt_version() {
    sed -n 's/^m4_define(\[libabt_\(major\|minor\|patch\)\], \[\([0-9]*\)\].*/\2/p' "$TOP/configure.ac" | paste -sd . -
}
# release_epoch: when the newest version in CHANGES was released, in seconds, which is the date of what is made of it.
release_epoch() { date -u -d "$(sed -n 's/^## [0-9][0-9.]* - //p' "$TOP/CHANGES" | head -n 1)" +%s; }
# programs_in FILE...: those of the files that are programs.
programs_in() {
    for each in "$@"; do
        [ ! -f "$each" ] || [ ! -x "$each" ] || case ${each##*/} in *.*) ;; *) echo "$each" ;; esac
    done
}
# scratch: makes the directory $work, which goes when the script ends.
scratch() { work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT; }
case ${1-} in
-h | --help) describe; exit 0 ;;
esac

# One step of a script, with its output in a log file that is shown when the step fails.
quietly() { # quietly LOG COMMAND...
    local log=$1
    shift
    if "$@" > "$log" 2>&1; then return 0; fi
    say "failed: $*" >&2
    tail -n 40 "$log" | sed 's/^/    /' >&2
    return 1
}

# with_progress WHAT COMMAND...: runs a command, and prints meanwhile what the function WHAT says, in place on a terminal,
# else each half a minute.
with_progress() {
    local what=$1 end='\n' every=30 shown status=0
    shift
    [ ! -t 1 ] || { end='\r' every=1; }
    # shellcheck disable=SC2059
    while sleep $every > /dev/null 2>&1 && kill -0 $$ 2> /dev/null; do printf "  %s$end" "$($what)"; done &
    shown=$!
    "$@" || status=$?
    kill $shown 2> /dev/null || :
    wait $shown 2> /dev/null || :
    return $status
}

jobs() { nproc 2> /dev/null || echo 1; }

# ---- What must be installed ------------------------------------------------------------------------------------------

# can_install: root, or sudo without a password, on a system with apt-get.
can_install() {
    command -v apt-get > /dev/null || return 1
    if [ "$(id -u)" = 0 ]; then SUDO=; return 0; fi
    command -v sudo > /dev/null && sudo -n true 2> /dev/null && SUDO="sudo -n"
}

# apt_get ARGUMENT...: which waits while somebody else installs something.
apt_get() {
    $SUDO env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -qq "$@" > /dev/null
}

# missing THING:PACKAGE...: the packages of those things that are not there. A thing is a command, a header if it ends in
# .h or .hpp, looked for by the compiler, or clang's own archive if it ends in .a.
missing() {
    for pair in "$@"; do
        thing=${pair%%:*}
        case $thing in
        *.a) [ -f "$(clang -print-file-name="$thing")" ] || echo "${pair#*:}" ;;
        *.so.*) PATH="$PATH:/sbin:/usr/sbin" ldconfig -p | grep -q "$thing" || echo "${pair#*:}" ;;
        *.hpp) echo "#include <$thing>" | c++ -E -x c++ - > /dev/null 2>&1 || echo "${pair#*:}" ;;
        *.h) echo "#include <$thing>" | cc -E -x c - > /dev/null 2>&1 || echo "${pair#*:}" ;;
        *) command -v "$thing" > /dev/null || echo "${pair#*:}" ;;
        esac
    done | sort -u | tr '\n' ' '
}

# clang_runtime: Debian's package of clang's sanitizers has the number of clang's version in its name.
clang_runtime() { echo "libclang-rt-$(clang -dumpversion | cut -d . -f 1)-dev"; }

# need THING:PACKAGE...: installs what is missing, or says how and ends the script.
need() {
    packages=$(missing "$@")
    [ -n "$packages" ] || return 0
    if can_install; then
        say "installing: $packages"
        # shellcheck disable=SC2086
        if apt_get update && apt_get install -y --no-install-recommends $packages; then
            packages=$(missing "$@")
            [ -n "$packages" ] || return 0
        fi
    fi
    printf 'This needs software that is not installed. On Debian:\n    sudo apt-get install -y %s\n' "$packages" >&2
    exit 1
}

# want THING:PACKAGE...: likewise, but goes on without.
want() {
    packages=$(missing "$@")
    [ -n "$packages" ] || return 0
    why=$(mktemp)
    (need "$@") 2> "$why" || say "going on without: $packages($(grep -m 1 '^E: ' "$why" || echo "may not install"))"
    rm -f "$why"
}

# need_to_build [THING:PACKAGE]...: what a build needs, and these things.
need_to_build() {
    need cc:gcc make:make autoconf:autoconf automake:automake libtoolize:libtool m4:m4 \
        unistd.h:libc6-dev openssl/sha.h:libssl-dev "$@"
}

# ---- Building --------------------------------------------------------------------------------------------------------

# use_ccache: compilers run by way of ccache if it is there. What it keeps serves any build, and any place of the tree.
use_ccache() {
    local dir
    for dir in /usr/lib/ccache /usr/lib64/ccache /usr/lib/ccache/bin; do
        [ -x "$dir/cc" ] || continue
        PATH=$dir:$PATH CCACHE_BASEDIR=$TOP CCACHE_NOHASHDIR=1
        export PATH CCACHE_BASEDIR CCACHE_NOHASHDIR
        return 0
    done
}

# generate: makes configure if it is not there or older than what it is made from.
generate() {
    for input in configure.ac Makefile.am src/sources.mk test/tests.mk examples/examples.mk addons/*/*.mk addons/*/*/*.mk; do
        if [ ! -f "$TOP/Makefile.in" ] || [ ! -f "$TOP/configure" ] || [ "$TOP/$input" -nt "$TOP/Makefile.in" ]; then
            quietly "$1/autogen.log" "$TOP/autogen.sh" || return 1
            return 0
        fi
    done
}

# top_from DIR: the top of the tree, as configure takes it in DIR: relative if its name has blanks, which configure
# refuses in an absolute name.
top_from() {
    local rest=${1#"$TOP"/} up=..
    case $TOP in
    *[[:space:]]*) [ "$rest" != "$1" ] || { echo "$TOP"; return; } ;;
    *) echo "$TOP"; return ;;
    esac
    while [ "${rest#*/}" != "$rest" ]; do rest=${rest#*/} up=../$up; done
    echo "$up"
}

# build DIR TARGETS [VARIABLE=value | --option]...: an up-to-date build of some targets, separated by blanks, in DIR.
build() {
    local dir=$1 targets=$2 target
    shift 2
    mkdir -p "$dir" || return 1
    generate "$dir" || return 1
    if [ ! -f "$dir/Makefile" ] || [ "$(cat "$dir/options" 2> /dev/null)" != "$*" ]; then
        (cd "$dir" && quietly configure.log "$(top_from "$dir")/configure" "$@") || return 1
        printf '%s\n' "$*" > "$dir/options"
    fi
    # One after another: "all" is a make of its own, which must not run beside the others.
    for target in $targets; do
        quietly "$dir/make.log" make -C "$dir" -j"$(jobs)" "$target" || return 1
    done
}

# runs_with COMPILER FLAG [WRAPPER]...: a program made with a sanitizer runs here.
runs_with() {
    local compiler=$1 flag=$2 dir status=0
    shift 2
    dir=$(mktemp -d)
    echo 'int main(void) { return 0; }' > "$dir/runs.c"
    "$compiler" "$flag" -o "$dir/runs" "$dir/runs.c" > /dev/null 2>&1 && "$@" "$dir/runs" > /dev/null 2>&1 || status=1
    rm -rf "$dir"
    return $status
}

# use_installed BUILD DIR: installs a build below DIR, as a package is made, for pkg-config and the loader.
use_installed() {
    make -C "$1" -s install DESTDIR="$2" > "$2.log" 2>&1 || { cat "$2.log"; exit 1; }
    PKG_CONFIG_PATH=$(dirname "$(find "$2" -name argobots.pc)") PKG_CONFIG_SYSROOT_DIR=$2
    LD_LIBRARY_PATH=$(dirname "$(find "$2" -name libabt.so.1)")
    export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR LD_LIBRARY_PATH
}
