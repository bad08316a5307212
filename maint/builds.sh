# SPDX-License-Identifier: BSD-3-Clause
# The builds that maint/check tests. Source it behind lib.sh; it wants the variables all, builds (the folder that they
# are in) and, for other processors, arch_lists.

# Those that plan() knows beside the processors in maint/archs.
known="gcc unity active ver20-bare delays full musl asan tsan msan soak"

# Those that the fuzzer runs on, and for how many seconds each.
fuzzed="gcc delays full asan tsan" fuzz_seconds=${ABT_FUZZ_SECONDS:-12}

sanitized="-g -O1 -fno-omit-frame-pointer -fsanitize"
# The delays can be repeated, as far as the system lets them, by their seed.
ABT_DELAYS_SEED=${ABT_DELAYS_SEED:-$(date +%s)}
programs= check_args=

# sample PROGRAMS: without --all, only these.
sample() {
    [ $all = yes ] || programs=$1
}

# plan DO NAME: calls DO NAME SECONDS TARGETS [CONFIGURE ARGUMENT]... for one of the builds. SECONDS is what a stress test
# may take, TARGETS what is made beside the tests. These are in the variable programs, as make has it. check_args is for
# make, too.
plan() {
    local do=$1 name=$2
    shift 2
    programs='$(test_programs)' check_args=
    unset TEST_WRAPPER ABT_TEST_EMULATED
    case $name in
    # The release build. Assertions are on in all that follow but musl's.
    gcc) $do gcc 2 "all examples bench-programs" --enable-werror ;;

    # The whole library as one file, without checks of arguments and with all that helps to debug: built and looked at.
    unity)
        programs=
        $do unity 1 all --disable-static --enable-unity --enable-checks=none --enable-debug=all --enable-werror
        ;;

    # Waits that spin: what looks at waits.
    active)
        sample '$(filter test/unit/lock/% test/unit/os/% test/unit/stream/% test/unit/sync/% test/unit/wait/%, $(unit_tests))
            test/api/barrier test/api/cond test/api/deadlock test/api/eventual test/api/future test/api/driver_wait
            test/api/mutex test/api/rwlock test/api/thread_sleep test/api/timedwait test/api/timer test/api/xstream
            test/api/xstream_park test/stress/wakeups'
        # A value of a variable of make is one line.
        programs=$(printf '%s' "$programs" | tr -s '\n ' ' ')
        $do active 1 all --disable-static --enable-wait-policy=active --enable-debug=ub_assert --enable-werror
        ;;

    # The 2.0 API, without what can be left out of the library: what the public functions answer then. Assertions are no
    # part of what users get, so that they are on here, too.
    ver20-bare)
        programs='$(api_tests) $(error_tests)'
        $do ver20-bare 1 libabt.la --disable-static --enable-ver20-api --enable-feature=none --enable-debug=ub_assert \
            --enable-werror
        ;;

    # Random delays around each atomic operation, also of the add-ons.
    delays)
        programs='$(stress_tests) $(openmp_tests) $(io_tests)'
        export ABT_DELAYS_SEED
        $do delays 1 libabt.la --disable-static --enable-debug=ub_assert,delays --enable-werror
        ;;

    # By another compiler, with what is off otherwise.
    full)
        sample '$(arch_tests) $(unit_tests) $(cxx_tests) $(client_tests)'
        $do full 1 "all examples" --disable-static --enable-werror CC="$(basename "$(command -v clang || echo cc)")" \
            --enable-affinity --enable-tool --enable-debug=ub_assert --enable-stack-unwind
        ;;

    # By another C library, whose compiler has the kernel's headers after its own; without C++, and without MPI, whose
    # libraries are for the usual one.
    musl)
        sample '$(arch_tests) $(unit_tests) $(api_tests) $(addprefix addons/io/test/, deadlines files operations signals)'
        $do musl 1 libabt.la --disable-static --disable-mpi --enable-werror CXX=false \
            CC="$(command -v ccache) musl-gcc -idirafter $builds/musl-headers"
        ;;

    asan)
        options_for_asan
        sample '$(error_tests) $(fault_tests) $(regress_tests) $(io_tests) $(abt_io_tests) $(openmp_tests) $(filter test/unit/mem/% test/unit/unit/%, $(unit_tests))'
        $do asan 1 all --disable-static --enable-debug=ub_assert CFLAGS="$sanitized=address,undefined -fno-sanitize-recover=undefined"
        ;;

    # Where the kernel spreads addresses further than TSan can follow, it needs a fixed layout. make -e: the variable of
    # the environment goes before the makefile's.
    tsan)
        runs_with cc -fsanitize=thread || { export TEST_WRAPPER="setarch $(uname -m) -R"; check_args=-e; }
        sample '$(cxx_tests) $(stress_tests) $(io_tests) $(abt_io_tests) $(openmp_tests)'
        $do tsan 1 all --disable-static --enable-debug=ub_assert CFLAGS="$sanitized=thread"
        ;;

    # Only clang has MSan, which has to see all code of a program: those that need neither C++ nor other libraries.
    msan)
        programs='test/api/cond test/api/eventual test/api/mutex test/api/self test/api/task test/api/thread test/api/xstream'
        runs_with clang -fsanitize=memory || { export TEST_WRAPPER="setarch $(uname -m) -R"; check_args=-e; }
        $do msan 1 libabt.la --disable-static --enable-debug=ub_assert CC=clang CXX=false CFLAGS="$sanitized=memory"
        ;;

    # Input and output by libabtio for ten minutes.
    soak)
        options_for_asan
        programs=addons/io/test/soak check_args=TEST_TIMEOUT=1300
        $do soak 600 libabtio.la --enable-debug=ub_assert CFLAGS="$sanitized=address,undefined -fno-sanitize-recover=undefined"
        ;;

    # Another processor. ABT_TEST_EMULATED is for tests that an emulator is too slow for, or not good enough.
    *)
        programs=$arch_lists
        # shellcheck disable=SC2046
        set -- $(cross "$name")
        if [ "$1" = - ]; then
            set -- --disable-fcontext
        else
            export TEST_WRAPPER="$TOP/maint/run-arch $2 $1" ABT_TEST_EMULATED=1
            check_args=-e
            set -- --host="$1" CC="$1-gcc" CXX="$1-g++"
        fi
        $do "$name" 1 libabt.la --enable-werror --disable-static --enable-debug=ub_assert "$@"
        ;;
    esac
}

# Leaks are looked for where the sanitizer may trace the process.
options_for_asan() {
    export ASAN_OPTIONS="${ASAN_OPTIONS-}" UBSAN_OPTIONS=print_stacktrace=1
    runs_with cc -fsanitize=address || ASAN_OPTIONS=detect_leaks=0
}

# cross NAME: configure's name of another processor, and qemu's program for it.
cross() { sed -n "s/^$1 //p" "$TOP/maint/archs"; }

# wants NAME: installs what a build needs beside what all do, if it may.
wants() {
    local each dir
    case $1 in
    musl)
        want musl-gcc:musl-tools
        mkdir -p "$builds/musl-headers"
        for each in linux asm asm-generic; do
            for dir in /usr/include "/usr/include/$(cc -print-multiarch 2> /dev/null)"; do
                [ ! -d "$dir/$each" ] || ln -sfn "$dir/$each" "$builds/musl-headers/$each"
            done
        done
        ;;
    *)
        # shellcheck disable=SC2046
        set -- $(cross "$1")
        [ "${1:--}" = - ] || want "$1-gcc:gcc-$1" "$1-g++:g++-$1" "$2:qemu-user"
        ;;
    esac
}

# lacks NAME: says why a build cannot be tested here, if so.
lacks() {
    case $1 in
    musl) command -v musl-gcc > /dev/null || say "there is no musl-gcc" ;;
    asan | soak) (options_for_asan && runs_with cc -fsanitize=address) || say "its programs do not run here" ;;
    tsan) runs_with cc -fsanitize=thread || runs_with cc -fsanitize=thread setarch "$(uname -m)" -R || say "its programs do not run here" ;;
    msan)
        command -v clang > /dev/null && { runs_with clang -fsanitize=memory ||
            runs_with clang -fsanitize=memory setarch "$(uname -m)" -R; } || say "its programs do not run here"
        ;;
    *)
        # shellcheck disable=SC2046
        set -- $(cross "$1")
        [ "${1:--}" = - ] || { command -v "$1-g++" && command -v "$2"; } > /dev/null ||
            say "there is no compiler or no qemu for it"
        ;;
    esac
}

# make_programs NAME SECONDS TARGETS [CONFIGURE ARGUMENT]...: a build with the programs of its tests.
make_programs() {
    local dir=$builds/$1
    shift 2
    build "$dir" "$@" || return 1
    [ -z "$programs" ] || quietly "$dir/make.log" make -C "$dir" -j"$(jobs)" check-programs "check_PROGRAMS=$programs"
}

# ---- Builds that are made while others are tested --------------------------------------------------------------------

ahead=$builds/ahead builder=

# make_ahead NAME...: begins to make these builds, one after another. The file "made" then has the status and the seconds.
make_ahead() {
    local each begin status
    rm -rf "$ahead"
    for each in "$@"; do mkdir -p "$ahead/$each"; done
    (
        trap - EXIT
        for each in "$@"; do
            begin=$(date +%s) status=0
            plan make_programs "$each" > "$ahead/$each/log" 2>&1 || status=$?
            say "$status $(($(date +%s) - begin))" > "$ahead/$each/making"
            mv "$ahead/$each/making" "$ahead/$each/made"
        done
    ) &
    builder=$!
    trap stop_builder EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    # The tests go first.
    renice -n $(($(nice) + 5)) -p $builder > /dev/null 2>&1 || :
}

# is_ahead NAME: it is one of these builds.
is_ahead() { [ -n "$builder" ] && [ -d "$ahead/$1" ]; }

# wait_for NAME: its log and its status; "seconds" is how long it took.
wait_for() {
    local status
    seconds=0
    while [ ! -f "$ahead/$1/made" ]; do
        kill -0 $builder 2> /dev/null || [ -f "$ahead/$1/made" ] || { say "nobody makes $1 any more"; return 1; }
        sleep 1
    done
    cat "$ahead/$1/log"
    read -r status seconds < "$ahead/$1/made"
    return "$status"
}

# The shell waits for what it runs, which has to end first.
stop_builder() {
    # shellcheck disable=SC2046
    kill $builder $(cat "/proc/$builder/task/$builder/children" 2> /dev/null) 2> /dev/null || :
}
