# SPDX-License-Identifier: BSD-3-Clause
"""The works: what each is, its figure, and the limits of libabt."""

# work: (title, unit, figure, long). The unit "ns" is per operation of the title; a long work is not done in each round.
WORKS = {
    "create-256": ("create+join+free of 256 units per stream, per unit", "ns", "create", False),
    "create-16384": ("create+join+free of 16384 units per stream, per unit", "ns", "create", False),
    "revive-256": ("revive+join of 256 ULTs, per ULT", "ns", "switch", False),
    "create-to": ("create_to+free, one at a time", "ns", "create", False),
    "kept-switch": ("a raw switch that keeps control words, and no more", "ns", "switch", False),
    "kept-start": ("a raw start and end of a context, likewise", "ns", "switch", False),
    "yield-2": ("yield, 2 ULTs", "ns", "switch", False),
    "yield-256": ("yield, 256 ULTs", "ns", "switch", False),
    "yield-8-sites": ("yield, 8 ULTs from eight call sites", "ns", "switch", False),
    "yield-to": ("yield to a named ULT", "ns", "switch", False),
    "resume-suspend-to": ("resume_suspend_to, ping-pong", "ns", "switch", False),
    "mutex": ("mutex lock+unlock, uncontended", "ns", "sync", False),
    "mutex-8": ("mutex, 8 ULTs with a yield inside", "ns", "sync", False),
    "eventual": ("eventual or channel ping-pong, per hand-over", "ns", "sync", False),
    "cond": ("cond ping-pong, per hand-over", "ns", "sync", False),
    "barrier-64": ("barrier of 64, per ULT", "ns", "sync", False),
    **{f"native-{what}-{n}{cpu}": (f"{n} native threads on a {what}{', CPU time' if cpu else ''}", "ns", "native", False)
       for what, n in (("mutex", 2), ("mutex", 64), ("cond", 2), ("barrier", 2)) for cpu in ("", "-cpu")},
    "for-loop": ("parallel loop over 1000 elements", "ns", "loops", False),
    "tasks-single": ("1000 tasks from one creator", "ns", "loops", False),
    "tasks-empty": ("1000 empty tasks from one creator", "ns", "loops", False),
    "tasks-parallel": ("1000 tasks from all streams", "ns", "loops", False),
    "nested": ("nested loops, 1000 x 1000", "ns", "loops", False),
    "nested-tasks": ("100 tasks of 10 tasks each", "ns", "loops", False),
    "step-create": ("256 units for all streams by one creator: create, per unit", "ns", "one", False),
    "step-join": ("... join, per unit", "ns", "one", False),
    "step-both": ("... both, per unit", "ns", "one", False),
    "fib": ("fib without cutoff, per spawn", "ns", "trees", False),
    "fib-large": ("fib of 34, per spawn", "ns", "trees", False),
    "nqueens": ("N-Queens, per placement", "ns", "trees", False),
    "uts-t1": ("UTS T1, per node", "ns", "trees", True),
    "uts-t3": ("UTS T3, per node", "ns", "trees", True),
    "mergesort": ("merge sort of 300000 numbers", "ns", "dense", False),
    "matmul": ("product of matrices of 256 x 256, by quarters", "ns", "dense", False),
    "heat": ("20 steps of heat in 512 x 512 points", "ns", "dense", False),
    "fft": ("Fourier's transform of 65536 numbers", "ns", "dense", False),
    "first-task": ("a task for a stream that sleeps, until it runs", "ns", "wait", False),
    "blocks-10us": ("a ULT sleeps for 10 us: until another one runs", "ns", "wait", False),
    "blocks-100us": ("a ULT sleeps for 100 us: until another one runs", "ns", "wait", False),
    "blocks-1ms": ("a ULT sleeps for 1 ms: until another one runs", "ns", "wait", False),
    "computes-1ms": ("a ULT computes for 1 ms: until another one runs", "ns", "wait", False),
    "events-each": ("one leader: an event, 1 ULT a stream waits", "ns", "wait", False),
    "events-16": ("one leader: an event, 16 ULTs a stream wait", "ns", "wait", False),
    "events-apart": ("the same, and 500 ns of computing after each", "ns", "wait", False),
    "xs-unsorted": ("cross-section lookups, random order, per lookup", "ns", "xs", True),
    "xs-presorted": ("cross-section lookups, presorted, per lookup", "ns", "xs", True),
    "start-up": ("start-up and end of the runtime", "ns", "start", False),
    "create-thread": ("create+join of a stream or thread", "ns", "start", False),
    "memory-created": ("memory of a ULT that was created", "bytes", "memory", False),
    "memory-blocked": ("memory of a ULT that is blocked", "bytes", "memory", False),
}

# What only maint/bench --comparison measures, or who asks for it.
COMPARED = {"nested-tasks", "step-create", "step-join", "step-both"}

# When time is short, one tree is enough, and so are two threads and many on a mutex.
NOT_QUICK = {"uts-t3", "fib-large", "blocks-10us", "blocks-1ms"} | {work for work in WORKS if work.startswith("native-")} - {"native-mutex-2", "native-mutex-64"}

# Works without peers, which compare two ways of libabt: the one that the title speaks of, and the other.
CHOICES = {work: ("one leader", "each looks") for work in WORKS if work.startswith("events-")}

# On several streams these wake units of private pools from other streams, which the contract of such pools does not
# have. libabt allows it; Argobots may hang or crash.
OUTSIDE_ARGOBOTS = {
    **dict.fromkeys(("mutex-8", "eventual", "cond", "barrier-64"), {"private pools"}),
    **dict.fromkeys(("step-create", "step-join", "step-both", "nested-tasks"), {"ULT, private pools", "tasklet, private pools"}),
    **dict.fromkeys(("for-loop", "tasks-single"), {"ULT, private pools", "ULT, private pools, create_many"}),
}

FIGURES = {
    "create": "Creation, join and free (the paper's figures 2 to 7)",
    "switch": "Yield and other switches (figure 8)",
    "sync": "Synchronisation",
    "native": "Native threads on libabt's objects and on pthread's own",
    "one": "One creator, for all streams (the comparison paper's figures of creation and join)",
    "loops": "Loops and tasks (the comparison paper's figures 8 to 13)",
    "trees": "Trees of tasks",
    "dense": "Arrays: works that are cut into parts of some microseconds",
    "wait": "Waking and waiting: for the first task, beside a ULT that blocks, for events",
    "xs": "Cross-section lookups",
    "start": "Start-up",
    "memory": "Memory",
}

# At most so many raw switches: (work, series, streams) of libabt.
LIMITS = {
    ("create-256", "ULT, private pool", 1): 5.3,
    ("create-256", "ULT, MPMC pool", 1): 8.5,
    ("create-16384", "ULT, private pool", 1): 5.6,
    ("create-256", "ULT, private pool, create_many", 1): 5.0,
    ("create-256", "tasklet, private pool", 1): 3.1,
    ("revive-256", "ULT, private pool", 1): 5.3,
    ("yield-2", "private pool", 1): 2.6,
    ("yield-256", "private pool", 1): 2.9,
    ("yield-8-sites", "private pool", 1): 2.9,
    ("yield-256", "MPMC pool", 1): 4.5,
    ("resume-suspend-to", "private pool", 1): 2.2,
    ("fib", "ULT, RANDWS pools", 1): 3.5,
    ("mutex", "", 1): 4.1,
    ("mutex-8", "private pools", 1): 16,
    ("eventual", "private pools", 1): 8.5,
    ("barrier-64", "private pools", 1): 4.3,
}
