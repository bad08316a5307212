# SPDX-License-Identifier: BSD-3-Clause
# Of the map and the assembler text of a source file: both versions of each function that the file defines and whose name
# begins with GOMP_ or omp_: that of its node, and that of libomp.so.5.
FNR == NR && / \{$/ { node = $1 }
FNR == NR && $1 ~ /^(GOMP|omp)_.*;$/ { nodes[substr($1, 1, length($1) - 1)] = node }
FNR != NR && ($1 == ".globl" || $1 == ".global") && $2 in nodes {
    print "__asm__(\".symver " $2 ", " $2 "@@" nodes[$2] ", remove\\n.symver " $2 ", " $2 "@VERSION\");"
}
