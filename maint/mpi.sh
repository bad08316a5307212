# SPDX-License-Identifier: BSD-3-Clause
# Shell functions for programs of MPI. Source it behind lib.sh.

# mpirun_of NAME: the launcher of openmpi or mpich.
mpirun_of() { command -v "mpirun.$1" || command -v mpirun; }

# mpi_built BUILD: the MPIs that the examples have been built for and whose launcher is there.
mpi_built() {
    local name
    for name in openmpi mpich; do
        [ ! -x "$1/addons/mpi/examples/stencil_$name" ] || [ -z "$(mpirun_of $name)" ] || echo $name
    done
}

# mpi_library BUILD NAME: the library for that MPI, if it has been built.
mpi_library() { ls "$1/.libs/libabtmpi-$2.so" 2> /dev/null || :; }

# mpi_run NAME NUMBER COMMAND...: runs a command in so many processes, more than there are cores if need be, also for root.
mpi_run() {
    local name=$1 number=$2
    shift 2
    set -- -n "$number" "$@"
    [ "$name" != openmpi ] || set -- --oversubscribe --bind-to none "$@"
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
        timeout -k 5 "${MPI_SECONDS:-120}" "$(mpirun_of "$name")" "$@" < /dev/null
}
