#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the wrappers of libabtmpi for one MPI: real.h, a table of the functions of that MPI, and wrappers.c. What a
function gets is in functions.tsv, its parameters are those of mpi.h.

    generate.py functions.tsv OUTPUT-DIRECTORY < mpi.h-after-the-preprocessor
"""
import pathlib
import re
import sys

# Functions of the MPI library that the sources of libabtmpi call, beside those that are wrapped.
USED = """Abort Cancel Comm_test_inter Comm_call_errhandler Comm_create_errhandler Comm_get_errhandler Comm_get_name Comm_rank Comm_set_errhandler
    Errhandler_free Errhandler_set Error_string Finalize Get_library_version Init Init_thread Initialized Improbe Iprobe Irecv
    Irecv_c Isend Isend_c Pack Pack_c Pack_size Pack_size_c Query_thread Request_get_status Test Testany Testsome
    Wait Win_test""".split()

PROTOTYPE = re.compile(r"\bint\s+PMPI_?(\w+)\s*\(([^().]*)\)")
NAME = re.compile(r"(\w+)\s*((?:\[[^\]]*\]\s*)*)$")

RESULT = {"Testsome": "outcount"}  # what says that nothing was found, where that is not "flag"


def named(param, number):
    """A prototype may leave out a name."""
    only_type = param.endswith("*") or re.fullmatch(r"(const )?\w+", param)
    return f"{param} arg{number}_" if only_type else param


def full(name):
    """The name of a function whose name behind MPI_ is Recv, or whose name behind MPI is X_Comm_agree."""
    return ("MPI" if name.startswith("X_") else "MPI_") + name


class Function:
    def __init__(self, name, text):
        self.name, self.full = name, full(name)
        text = " ".join(text.split())
        self.params = [] if text == "void" else [named(param.strip(), i) for i, param in enumerate(text.split(","))]
        self.suffix = "_c" if name.endswith("_c") else ""
        self.count = "MPI_Count" if self.suffix else "int"

    @property
    def args(self):
        return [NAME.search(param)[1] for param in self.params]

    def real(self, args=None, name=None):
        return f"abtmpi_real.{name or self.name}({', '.join(self.args if args is None else args)})"

    def with_request(self, request):
        """The arguments of the nonblocking form: that has a request in place of the status, or behind all."""
        has_status = self.params and self.params[-1].startswith("MPI_Status")
        return (self.args[:-1] if has_status else self.args) + [request]

    def status(self):
        return self.args[-1] if self.params and self.params[-1].startswith("MPI_Status") else "MPI_STATUS_IGNORE"

    def comm(self):
        return "comm" if "comm" in self.args else "MPI_COMM_NULL"

    def called(self):
        """The call as errors name it."""
        peer = next((arg for arg in ("source", "dest") if arg in self.args), "MPI_PROC_NULL")
        tag = next((arg for arg in ("sendtag", "tag") if arg in self.args), "0")
        return f"(abtmpi_fatal_call){{\"{self.full}\", {self.comm()}, {peer}, {tag}}}"

    def define(self, body):
        params = ", ".join(self.params) or "void"
        return (f"int P{self.full}({params})\n{{\n{body}}}\n"
                f"int {self.full}({params}) __attribute__((alias(\"P{self.full}\")));\n")

    def define_twice(self, first, body):
        """What most often is all comes first, and needs no registers saved: the rest is another function."""
        params = ", ".join(self.params) or "void"
        return (f"static __attribute__((noinline)) int slow_{self.name}({params})\n{{\n{body}}}\n\n" +
                self.define(f"{first}    return slow_{self.name}({', '.join(self.args)});\n"))


def straight(function):
    return f"    if (!abtmpi_enter())\n        return {function.real()};\n"


def begin(f, what):
    """The way of a program without ULTs: four instructions. Collective calls are of the form that MPI_Init has found."""
    is_by_form = what == "turn" or (what == "twin" and f.is_collective)
    question = "abtmpi_state_is_plain" if is_by_form else "abtmpi_state_has_no_ults"
    # A communicator that is made with a handler has it from the beginning.
    handled = "    abtmpi_handler_set(MPI_COMM_NULL, errhandler);\n" if "errhandler" in f.args else ""
    if "_init" in f.name:
        handled += "    abtmpi_finish_may_be_inactive();\n"
    return f"{handled}    if ({question}())\n        return {f.real()};\n"


def ended(f, code):
    """The end of a call of a ULT."""
    return (f"    int ended_ = {code};\n"
            f"    return ended_ == MPI_SUCCESS ? ended_ : abtmpi_fatal_end({f.called()}, ended_);\n")


def failed(f, code):
    return f"abtmpi_fatal_end({f.called()}, abtmpi_leave({code}))"


def returned(f):
    """The end of a function in whose place nonblocking ones have been called."""
    return ended(f, "abtmpi_finish_source(code_, source, status)" if "source" in f.args else "code_")


def reach(f):
    """A message whose error would end the job is left to the MPI library. Collective ones have to be of one form."""
    return f"    if (abtmpi_handler_is_out_of_reach()) {{\n{region(f, '')}    }}\n"


def twin(f, by):
    # Operations of all processes match only if all are of the nonblocking form, whoever calls.
    ways, otherwise = reach(f) + straight(f), ""
    if f.is_collective:
        ways = (f"    if (abtmpi_call_is_between_groups({f.args[-1]})) {{\n{region(f, by)}    }}\n"
                f"    bool suspends_ = abtmpi_enter();\n")
        otherwise = ("    if (!suspends_)\n"
                     "        return code_ == MPI_SUCCESS ? abtmpi_real.Wait(&request_, MPI_STATUS_IGNORE) : code_;\n")
    return (f"    MPI_Request request_;\n{ways}"
            f"    int code_ = {f.real(f.with_request('&request_'), by)};\n{otherwise}"
            f"    code_ = abtmpi_finish(\"{f.full}\", code_, &request_, {f.comm()}, {f.status()});\n{returned(f)}")


def pair(f, receive, send):
    return (f"    MPI_Request requests_[2];\n    int code_ = abtmpi_fatal_code({f.real(receive + ['&requests_[0]'], 'Irecv' + f.suffix)});\n"
            f"    if (code_ != MPI_SUCCESS)\n        return {failed(f, 'code_')};\n"
            f"    code_ = {f.real(send + ['&requests_[1]'], 'Isend' + f.suffix)};\n"
            f"    code_ = abtmpi_finish_pair(\"{f.full}\", code_, requests_, {f.comm()}, {f.status()});\n")


def parts(f, by):
    a = f.args
    if f.name.startswith("Sendrecv_replace"):
        # The type of what has been packed matches any type at the receiver. MPI_Pack of MPICH 4.0 refuses MPI_BOTTOM.
        return (f"    if (buf == MPI_BOTTOM) {{\n{region(f, by)}    }}\n"
                f"    void *copy_;\n    {f.count} size_, used_ = 0;\n{straight(f)}"
                f"    int pack_ = abtmpi_fatal_code({f.real([a[1], a[2], a[7], '&size_'], 'Pack_size' + f.suffix)});\n"
                f"    if (pack_ != MPI_SUCCESS)\n        return {failed(f, 'pack_')};\n"
                f"    copy_ = malloc(size_ > 0 ? (size_t)size_ : 1);\n"
                f"    if (!copy_)\n        return abtmpi_leave(MPI_ERR_NO_MEM);\n"
                f"    bool before_ = abtmpi_cancel_put_off();\n"
                f"    pack_ = abtmpi_fatal_code({f.real([a[0], a[1], a[2], 'copy_', 'size_', '&used_', a[7]], 'Pack' + f.suffix)});\n"
                f"    if (pack_ == MPI_SUCCESS)\n        pack_ = replace_{f.name}({', '.join(a)}, copy_, used_);\n"
                f"    else\n        {failed(f, 'pack_')};\n"
                f"    free(copy_);\n    abtmpi_cancel_allow(before_);\n    return pack_;\n")
    return reach(f) + straight(f) + pair(f, a[5:11], a[0:5] + [a[10]]) + returned(f)


def before(f, what):
    """What a wrapper calls and nobody else."""
    if what != "parts" or not f.name.startswith("Sendrecv_replace"):
        return ""
    a = f.args
    body = pair(f, a[0:3] + a[5:8], ["copy_", "used_", "MPI_PACKED", a[3], a[4], a[7]]) + returned(f)
    return f"static int replace_{f.name}({', '.join(f.params)}, void *copy_, {f.count} used_)\n{{\n{body}}}\n\n"


def region(f, by):
    return (f"    abtmpi_region region_;\n    bool away_ = abtmpi_region_begin(&region_, \"{f.full}\");\n"
            f"    int code_ = {f.real()};\n    if (away_)\n        abtmpi_region_end(&region_);\n    return code_;\n")


def brief(f, by):
    return (f"    abtmpi_region region_;\n    bool begun_ = abtmpi_region_begin_brief(&region_, \"{f.full}\");\n"
            f"    int code_ = {f.real()};\n    if (!begun_)\n        return code_;\n" +
            ended(f, "abtmpi_region_end_brief(&region_, abtmpi_fatal_code(code_))"))


def wait(f, by):
    return straight(f) + ended(f, f"abtmpi_finish_{f.name.lower()}({', '.join(f.args)})")


def own(f, by):
    return f"    return abtmpi_own_{f.name.lower()}({', '.join(f.args)});\n"


def persistent(f, by):
    return f"    abtmpi_finish_may_be_inactive();\n    return {f.real()};\n"


def turn(f, by):
    found = RESULT.get(f.name, "flag")
    return (f"{straight(f)}    int code_ = abtmpi_fatal_code({f.real()});\n" +
            ended(f, f"abtmpi_leave_turn(code_, {found})"))


def hidden(f, by):
    return f"    return abtmpi_fatal_hide({f.real()}, {f.args[-1]});\n"


def handler(f, by):
    if f.name.startswith("Win"):
        return f"    abtmpi_region_handler_set(errhandler);\n    return {f.real()};\n"
    return f"    abtmpi_handler_set({', '.join(f.args)});\n    return {f.real()};\n"


# Those that a ULT may wait in, and the others.
WAITING = {"twin": twin, "parts": parts, "wait": wait, "ask": wait, "region": region, "brief": brief, "turn": turn}
OTHERS = {"own": own, "handler": handler, "persistent": persistent, "hidden": hidden}


def treatments(table):
    """(function, group, what, by) of each row, without the prefix of MPI."""
    for line in open(table):
        if not line.startswith("#"):
            name, group, what, *by = line.rstrip("\n").split("\t")
            if what == "through":
                continue
            yield name[3:].lstrip("_"), group, what, by[0][4:] if by else ""
            if name.endswith("_init"):
                yield "X" + name[3:], group, what, ""  # as Open MPI 4 calls persistent collective operations


def main(table, out):
    header = sys.stdin.read()
    found = {}
    for match in PROTOTYPE.finditer(header):
        found.setdefault(match[1], Function(match[1], match[2]))
    real, code = {name for name in USED if name in found}, []
    for name, group, what, by in treatments(table):
        if name not in found:
            continue
        found[name].is_collective = group in ("coll", "comm")
        if what == "twin" and by not in found:
            what = "region"
        real |= {name} | ({by} if what == "twin" else set())
        f = found[name]
        code.append(before(f, what) + (f.define_twice(begin(f, what), WAITING[what](f, by)) if what in WAITING else
                                       f.define(OTHERS[what](f, by))))
    if "Testsome" not in real:
        sys.exit("generate.py: this is no mpi.h")
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    (out / "real.h").write_text(
        "/* Made by generate.py: the functions of the MPI library below. */\n#ifndef ABTMPI_REAL_H\n#define ABTMPI_REAL_H\n\n"
        "#include <mpi.h>\n#if __has_include(<mpi-ext.h>)\n#include <mpi-ext.h>\n#endif\n\n"
        f"#define ABTMPI_IS_OPEN_MPI {int('ompi_mpi_comm_world' in header)}\n\n"
        "struct abtmpi_real {\n" + "".join(f"    __typeof__(P{full(name)}) *{name};\n" for name in sorted(real)) +
        "};\n\nextern struct abtmpi_real abtmpi_real __attribute__((visibility(\"hidden\")));\n\n#endif\n")
    (out / "wrappers.c").write_text(
        "/* Made by generate.py from functions.tsv and mpi.h. */\n#include <stdlib.h>\n\n#include <real.h>\n"
        "#include \"call.h\"\n#include \"fatal.h\"\n#include \"finish.h\"\n#include \"host.h\"\n"
        "#include \"own.h\"\n#include \"region.h\"\n#include \"state.h\"\n\n" + "\n".join(code) +
        "\nstruct abtmpi_real abtmpi_real;\n\n__attribute__((constructor)) static void resolve(void)\n{\n" +
        "".join(f"    abtmpi_real.{name} = (__typeof__(P{full(name)}) *)abtmpi_next(\"P{full(name)}\");\n"
                for name in sorted(real)) + "}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
