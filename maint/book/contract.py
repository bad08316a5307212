# SPDX-License-Identifier: BSD-3-Clause
"""What the comment of a function says, in parts, with references to other functions resolved: description, callers,
waiting, errors. The rules for what a comment does not mention stand at the top of abt.h."""
import re

import header

NAME = r"(?:ABTX?|abtx)_\w+"
CALLERS = re.compile(
    r"^(Any time|Any native thread, any time|Any thread|Any caller|On an ES|ULT only|Only schedulers|Signal handlers may "
    r"call|Not for ULTs|tasklets may call)\b")
USUAL_CALLERS = "Any work unit (ULT, tasklet or scheduler) or external native thread, once ABT_init has returned."
USUAL_WAITING = "It neither switches to another work unit nor blocks."
EXPLAINED = [
    (r"Any time\.", "Any thread at any time, also before ABT_init and after ABT_finalize."),
    (r"Any native thread, any time\.", "Any native thread at any time."),
    (r"ULT only", "ULTs only: a tasklet gets ABT_ERR_INV_THREAD, an external thread ABT_ERR_INV_XSTREAM"),
    (r"On an ES", "Work units, which run on an execution stream: an external thread gets ABT_ERR_INV_XSTREAM"),
]
WAITS = {
    "Yields": "It yields: the caller goes back to its pool, and the scheduler of its execution stream goes on.",
    "Waits": "It waits: a ULT is suspended, so that its execution stream runs other work; a tasklet or an external thread "
             "sleeps.",
    "Blocks": "It blocks the native thread, also below a ULT.",
    "Does not return": "It does not return.",
}
# A null handle gives the INV_ code of its kind, and so do arguments that are none of what there is.
KINDS = {
    "ABT_xstream": "the execution stream", "ABT_xstream_barrier": "the barrier", "ABT_sched": "the scheduler",
    "ABT_sched_config": "the configuration", "ABT_pool": "the pool", "ABT_pool_config": "the configuration",
    "ABT_pool_user_def": "the definition", "ABT_unit": "the unit", "ABT_thread": "the work unit",
    "ABT_thread_attr": "the attributes", "ABT_task": "the tasklet", "ABT_key": "the key", "ABT_mutex": "the mutex",
    "ABT_mutex_attr": "the attributes", "ABT_cond": "the condition variable", "ABT_rwlock": "the lock",
    "ABT_eventual": "the eventual", "ABT_future": "the future", "ABT_barrier": "the barrier", "ABT_timer": "the timer",
}
MEANING = {
    "UNINITIALIZED": "ABT_init has not been called.", "MEM": "There is no memory.", "SYS": "The system refuses.",
    "FEATURE_NA": "The library was configured without this.", "INV_ARG": "An argument is out of range.",
    "MUTEX_LOCKED": "The mutex is locked.", "COND_TIMEDOUT": "The time is over.",
    "INV_POOL_KIND": "There is no such kind.", "INV_POOL_ACCESS": "There is no such access.",
    "INV_SCHED_PREDEF": "There is no such scheduler.", "INV_QUERY_KIND": "There is no such kind.",
    "OTHER": "A user's pool made no unit, or something else is wrong.",
}


class Contract:
    def __init__(self):
        self.summary, self.text, self.callers, self.waiting = "", [], [], []
        self.errors = []  # (code without ABT_ERR_, what the comment adds)
        self.listed = []  # codes that its own clauses name
        self.base = None  # the function whose description goes with this one


CODES = re.compile(r"(?<![A-Z_])(INV_[A-Z_]+|MEM|OTHER(?=:)|SYS|FEATURE_NA|UNINITIALIZED|COND_TIMEDOUT|MUTEX_LOCKED)\b")


def with_codes(text):
    """Codes by their whole names, for those who have not read the rules of the header."""
    return text if "\n" in text else CODES.sub(r"ABT_ERR_\1", text)


def sentences(text):
    """Splits at full stops that end sentences, outside of parentheses."""
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text):
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == "." and depth == 0 and (at + 1 == len(text) or text[at + 1] == " "):
            parts.append(text[start:at + 1].strip())
            start = at + 1
    return [part for part in parts + [text[start:].strip()] if part]


def listed(text):
    """The codes of a list such as: INV_POOL, OTHER (the pool made no unit)."""
    found = []
    for part in header.split_commas(text.rstrip(".")):
        match = re.match(r"(?:then |and |with )?([A-Z][A-Z_0-9]+)(?: \((.*)\))?$", part)
        if match:
            found.append((match[1], match[2] or ""))
        elif part.endswith("codes"):
            found.append(("CALLBACK_CODE", part))
    return found


def implied(entry):
    """INV_ codes of the handles that the function takes."""
    found = []
    for parameter in entry.parameters:
        kind = re.match(r"(?:const )?(ABT_\w+) ?(\**)", parameter)
        if kind and kind[1] in KINDS and not (kind[2] and not entry.name.endswith(("_free", "_revive", "_revive_to"))):
            found.append(("INV_" + kind[1][4:].upper(), ""))
    return found


def errors_of(sentence, contract, previous, known):
    """Reads one sentence about errors; False if it is none."""
    if re.match(r"(Rules and e|E)rrors:? as above\b", sentence):
        base = previous
    else:
        match = re.match(rf"(?:Rules and e|E)rrors:? as (?:of )?({NAME})", sentence)
        base = known.get(match[1]) if match else None
        if not match:
            match = re.match(r"Errors( \(1\.x only\))?: (.*)", sentence)
            if not match:
                return False
            contract.errors += [(code, words or match[1] and "; 1.x" or "") for code, words in listed(match[2])]
            return True
    contract.errors += [pair for pair in base.errors if pair not in contract.errors]
    contract.errors += listed(re.split(r"with|then", sentence, maxsplit=1)[-1]) if "," in sentence else []
    if sentence.startswith("Rules"):
        contract.callers = list(base.callers)
    return True


def callers_of(sentence, contract):
    """Takes what a sentence says of callers and of waiting out of it; what is left is for the description."""
    if CALLERS.match(sentence):
        for pattern, words in EXPLAINED:
            sentence = re.sub("^" + pattern, words, sentence)
        wait = re.search(r"; (waits|yields|blocks)\.$", sentence)
        if wait:
            contract.waiting.append(WAITS[wait[1].capitalize()])
            sentence = sentence[:wait.start()] + "."
        contract.callers.append(sentence)
        return ""
    if sentence.rstrip(".") in WAITS:
        contract.waiting.append(WAITS[sentence.rstrip(".")])
        return ""
    return sentence


OBJECTS = [("ABTX_xstream", "the ES"), ("ABTX_thread", "the work unit"), ("ABT_thread_attr", "the attribute object"),
           ("ABT_mutex_attr", "the attribute object"), ("ABT_pool_user_def", "the definition"),
           ("ABT_pool_config", "the configuration"), ("ABT_sched_config", "the configuration"),
           ("ABT_self", "the caller"), ("ABT_task", "the tasklet"), ("ABT_thread", "the work unit"),
           ("ABT_xstream_barrier", "the barrier"), ("ABT_xstream", "the ES"), ("ABT_pool", "the pool"),
           ("ABT_sched", "the scheduler")]


def plain(entry, sentence):
    """The first sentence, on a page of its own: what "it" is has been said on another page of the header."""
    kind = next((words for prefix, words in OBJECTS if entry.name.startswith(prefix)), None)
    kind = kind or KINDS.get("_".join(entry.name.split("_")[:2]))
    if not kind:
        return sentence
    first, rest = sentence[:40], sentence[40:]
    first = re.sub(r"^Its\b", kind.capitalize() + "'s", first).replace("'S ", "'s ")
    first = re.sub(r"^((?:Frees|Sets|Whether|Reads|Changes) )it\b", rf"\1{kind}", first)
    first = re.sub(r"^(Sets )its\b", rf"\1{kind}'s", first)
    first = re.sub(r"^(The ES that ran |The pool |Associates )it\b", rf"\1{kind}", first)
    return first.replace("the Es", "the ES").replace("The es", "The ES") + rest


def read(entry, previous, known):
    """The contract of a function; `previous` is that of the function before it, `known` has those read so far."""
    contract = Contract()
    follows = []
    for number, paragraph in enumerate(entry.comment):
        kept = []
        for sentence in sentences(paragraph):
            if errors_of(sentence, contract, previous, known):
                continue
            sentence = callers_of(sentence, contract)
            if sentence:
                kept.append(sentence)
        if number == 0 and kept:
            first = kept[0]
            named = re.match(rf"(?:The same as )?({NAME})(?:\.$| on each| with a chosen)", first) or \
                re.match(rf"The same as ({NAME})", first)
            if named and named[1] in known:
                contract.base = named[1]
                kept[0] = re.sub(rf"^({NAME})\.$", r"The same as \1.", first)
            elif first.startswith("The same") and previous:
                contract.base = previous.base if previous.base and "as " + previous.base not in first and \
                    previous.is_variant else previous.name
                kept[0] = re.sub(r"^The same\b,? ?(?!as)", f"The same as {contract.base}, ", first).replace(
                    ", .", ".").replace(f"{contract.base}, as ", f"{contract.base}, as ")
            elif re.search("[Ee]rrors as above", paragraph) and previous:
                contract.base = previous.name
            kept[0] = plain(entry, kept[0])
        if kept:
            follows.append(" ".join(kept))
    contract.name, contract.text = entry.name, follows
    contract.is_variant = bool(contract.base)
    base = known.get(contract.base)
    contract.summary = summary(follows[0] if follows else "Lets others run")
    if base:
        contract.callers = contract.callers or list(base.callers)
        contract.waiting = contract.waiting or list(base.waiting)
        contract.errors = contract.errors or list(base.errors)
    contract.listed = [code for code, _ in contract.errors]
    contract.errors += [pair for pair in implied(entry) if pair[0] not in [code for code, _ in contract.errors]]
    contract.callers = contract.callers or [USUAL_CALLERS]
    said = " ".join(follows)
    if not contract.waiting:
        tells = re.search(r"\b([Ww]aits?|[Bb]locks?|[Yy]ields?|switch(es)?|runs it)\b", said)
        contract.waiting = [told_waiting(said) if tells else USUAL_WAITING]
    return contract


IO_CALLERS = "ULTs and external threads. A tasklet blocks its stream. Schedulers, drivers and signal handlers may not call."
IO_MEANING = {"ENOENT": "There is no such memory or descriptor.", "EEXIST": "It is registered already."}
IO_CALL = re.compile(r"([a-z0-9]+)(\([23]\))(, with [A-Z_]+ always)?")


def capital(text):
    """As a sentence, unless it begins with a name of a program."""
    return (text if "_" in text.split(" ")[0] else text[0].upper() + text[1:]) + "."


def codes_of_io(intro):
    """[(code, meaning)] of all operations, which the top of abtio.h tells."""
    found = [re.fullmatch(r"(-E[A-Z]+(?:, -E[A-Z]+)*): (.*?)[.]?", text) for text in intro]
    return [(code, capital(one[2])) for one in found if one for code in one[1].replace("-", "").split(", ")]


def own_call(name, text):
    """Of a comment that names the system calls of several functions, in its first sentence, what is of this one."""
    first = sentences(text)[0]
    calls = list(IO_CALL.finditer(first))
    own = [call for call in calls if call[1].rstrip("24") == name.removeprefix("abtio_")]
    if not own or calls[0].start():
        return text
    return own[0][1] + own[0][2] + (own[0][3] or "") + first[calls[-1].end():] + text[len(first):]


def io_sentences(entry, begin):
    """What the sentences of the description say that begin with a word and a colon."""
    return [one[len(begin) + 2:].rstrip(".") for text in entry.comment for one in sentences(text) if one.startswith(begin + ": ")]


def returns_of_io(entry):
    """What a function of abtio.h returns: what its description says, or what its call of the system does."""
    told, call = io_sentences(entry, "Returns"), IO_CALL.match(" ".join(entry.text))
    first = "0" if entry.name.endswith("_nb") else told[0] if told else f"What {call[1]}{call[2]} returns" if call else "0"
    error = f"{';' if ';' in first else ','} or a negative error number; errno is not used"
    return capital(first + (error if entry.errors else ""))


def others_of_io(entry):
    """Whose errors a function of abtio.h has besides."""
    told = [part for said in io_sentences(entry, "Errors") for part in header.split_commas(said) if part.startswith("those of ")]
    call = IO_CALL.match(" ".join(entry.text))
    return "" if entry.name.endswith("_nb") else told[0][9:] if told else call[1] + call[2] if call else ""


def io_errors(entry, usual):
    """[(code, meaning)]: those that the description names, then those of all operations."""
    found = []
    for said in io_sentences(entry, "Errors"):
        for part in header.split_commas(said):
            match = re.match(r"-(E[A-Z]+)(?: \((.*)\)|: (.*))?$", part)
            found += [(match[1], capital(match[2] or match[3]) if match[2] or match[3] else "")] if match else []
    if any("deadline" in parameter for parameter in entry.parameters):
        at_start = ("ENOMEM", "EAGAIN", "ENOTCONN")  # all that a call which does not wait can tell
        found += [pair for pair in usual if pair[0] not in dict(found) and (pair[0] in at_start or not entry.name.endswith("_nb"))]
    general = {**IO_MEANING, **dict(usual)}
    return [(code, meaning or general.get(code, "The description says when.")) for code, meaning in found]


def read_io(entry, known):
    """The contract of a function of abtio.h, whose comments say all of their errors in the description."""
    contract = Contract()
    contract.name, contract.text, contract.callers = entry.name, list(entry.comment), [IO_CALLERS]
    contract.text[:1] = [own_call(entry.name, text) for text in contract.text[:1]]
    contract.text = [" ".join(one for one in sentences(text) if not one.startswith("Returns: ")) for text in contract.text]
    waits = any("deadline" in parameter for parameter in entry.parameters) and not entry.name.endswith("_nb")
    if entry.name.endswith("_nb"):
        contract.base = entry.name[:-3]
        contract.text = [f"Starts what {contract.base} does, and does not wait: stores a handle in *op and returns 0, or returns "
                         "a negative error number and has started nothing. abtio_op_wait tells the result. What the arguments "
                         "point to belongs to the operation until it is done."]
    contract.waiting = [WAITS["Waits"] if waits or re.search(r"\bWaits\b(?! for ever)", " ".join(contract.text)) else USUAL_WAITING]
    contract.summary = summary(contract.text[0]) if contract.text else ""
    return contract


def told_waiting(text):
    """What the description itself says of waiting, in the words of the rules."""
    first = re.search(r"(?:^|, (?:and )?|\band )(Waits|waits|Blocks|blocks|Yields)\b", sentences(text)[0] if text else "")
    return WAITS[first[1].capitalize()] if first else "The description says when it lets other work run, or blocks."


def summary(text):
    """One line for lists of pages: the first clause."""
    text = re.sub(r"^(For [a-z ]+): ", r"\1, ", text)
    first = re.split(r"(?<![0-9.])[.;:](?: |$)", re.sub(r" \([^)]*\)", "", text), maxsplit=1)[0]
    while len(first) > 90 and ", " in first:
        first = first.rsplit(", ", 1)[0]
    return first.strip().rstrip(".")


def meaning(code, words, parameters):
    """What a code says: the words of the comment, or what it says everywhere."""
    words = re.sub(r"[;,]? ?\b1\.x( only)?$", "", words)
    if words == "0":
        return "The number is 0."
    if words and not words.startswith("also:"):
        names = {word for parameter in parameters for word in re.findall(r"\w+$", parameter)}
        first = words if re.match(r"\w+", words)[0] in names else words[0].upper() + words[1:]
        return first + "."
    general = MEANING.get(code)
    if not general and code.startswith("INV_"):
        kind = KINDS.get("ABT_" + code[4:].lower(), "the argument")
        general = kind[0].upper() + kind[1:] + " is not valid."
    general = general or "The object cannot do this now."
    return general[:-1] + "; also: " + words[5:].strip() + "." if words else general
