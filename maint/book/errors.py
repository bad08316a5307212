# SPDX-License-Identifier: BSD-3-Clause
"""The codes of each public function, from the "Errors:" clauses of the header and its rules: who gets which code in which
version of the API. maint/abi/callers.tsv has what the header leaves open: rows in place of what follows from it.

    function, code, API (1.x, 2.0, both), callers, where it is tested: errors (test/errors), fault (test/fault), ...
"""
import re

import contract

# What callers.tsv may add without the header's naming it: "whatever allocates may return MEM" and the like.
UNNAMED = ("ABT_ERR_MEM", "ABT_ERR_SYS", "ABT_SUCCESS", "CALLBACK_CODE")
ULT_ONLY, ON_ES = contract.EXPLAINED[2][1], contract.EXPLAINED[3][1]
# Null handles of these kinds stand for the default where something is created.
DEFAULTS = ("INV_SCHED_CONFIG", "INV_POOL_CONFIG", "INV_THREAD_ATTR", "INV_MUTEX_ATTR")


def callers_of(entry):
    """Who may call it, as a word of test/errors/errors.h."""
    said = " ".join(entry.contract.callers)
    if said.startswith(ULT_ONLY):
        return "ULTS"
    if said.startswith(ON_ES):
        return "ON_ES"
    return "ANYTIME" if re.match(r"Any (native )?thread at any time|Any caller, any time", said) else "INITED"


def codes_of(entry):
    """[(code, what the comment adds)], in the order of checking: also those that a rule at the top of the header gives."""
    found = list(dict.fromkeys(entry.contract.errors))
    kinds = [code for code, _ in contract.implied(entry)]
    if entry.name.endswith("_equal"):
        return []
    if "_create" in entry.name:
        kinds = [code for code in kinds if code not in DEFAULTS]
        found = [pair for pair in found if pair[0] not in DEFAULTS or pair[1]]
    first = [code for code in dict.fromkeys(kinds) if code not in entry.contract.listed]
    found = [(code, "") for code in first] + [pair for pair in found if pair[0] not in first]
    who = callers_of(entry)
    if who == "ULTS" and "INV_THREAD" not in [code for code, _ in found]:
        found = [("INV_THREAD", "")] + found
    if who in ("ULTS", "ON_ES") and "INV_XSTREAM" not in [code for code, _ in found]:
        found = [("INV_XSTREAM", "")] + found
    return found


def callers_of_code(entry, code, words):
    who = callers_of(entry)
    kinds = [code for code, _ in contract.implied(entry)]
    if re.match(r"a tasklet\b", words):
        return "TASKLETS"
    if re.match(r"a ULT\b", words):
        return "ULTS BY_SCHED"
    if code == "UNINITIALIZED":
        return "UNINITED"
    if code == "INV_XSTREAM" and code not in kinds:
        return "BY_EXTERNAL"
    if code == "INV_THREAD" and code not in kinds:
        return "TASKLETS"
    if code == "INV_THREAD" and who == "ULTS":
        return "ON_ES"
    return who


def derived(entry):
    """The rows of a function that follow from its comment."""
    for code, words in codes_of(entry):
        name = code if code == "CALLBACK_CODE" else "ABT_ERR_" + code
        if code in ("MEM", "SYS"):
            yield [entry.name, name, "both", "-", "fault"]
            continue
        callers = callers_of_code(entry, code, words)
        words = "" if words.startswith("also:") else words
        is_old = re.search(r"1\.x( only)?$|undefined in 2\.0|\b2\.0: ", words)
        yield [entry.name, name, "1.x" if is_old else "both", callers, "errors"]
        other = re.search(r"\b2\.0: ([A-Z][A-Z_]+)\b", words)
        if other:
            yield [entry.name, "ABT_ERR_" + other[1], "2.0", callers, "errors"]
        elif re.search(r"; 1\.x$|1\.x only$|2\.0: ", words):
            yield [entry.name, "ABT_SUCCESS", "2.0", callers, "errors"]
    if re.search("_(create|dup)", entry.name) and not any(code == "MEM" for code, _ in entry.contract.errors):
        yield [entry.name, "ABT_ERR_MEM", "both", "-", "fault"]


def table(entries, changes, aliases):
    """(rows, complaints): all rows, with those of callers.tsv in place of the derived ones, and those of other names."""
    instead, rows, wrong, known = {}, [], [], {entry.name: entry for entry in entries}
    for row in changes:
        instead.setdefault((row[0], row[1]), []).append(row)
    for entry in entries:
        own = list(derived(entry))
        codes = list(dict.fromkeys([row[1] for row in own] + [code for name, code in instead if name == entry.name]))
        for code in codes:
            replaced = instead.get((entry.name, code))
            usual = [row for row in own if row[1] == code]
            if replaced == usual:
                wrong.append(f"callers.tsv: {entry.name} {code} follows from the header")
            if replaced and not usual and code not in UNNAMED and code[8:] not in " ".join(map(str, entry.comment)):
                wrong.append(f"callers.tsv: the header does not name {code} at {entry.name}")
            rows += [row for row in replaced or usual if row[2] != "-"]
    wrong += [f"callers.tsv: there is no {name}" for name, _ in instead if name not in known]
    for name, target in aliases:
        rows += [[name, *row[1:4], "as " + target if row[4] == "fault" else row[4]] for row in rows if row[0] == target]
    silent = [entry.name for entry in entries if not any(row[0] == entry.name for row in rows)]
    return rows + [[name, "-"] for name in silent], wrong
