# What hutch selftest prints: the list of cases, the table of a run, the same as JSON.
import json
import textwrap

from cases import ERROR, FELL, HELD, NOBODY, NOT_RUN

# On the backend none.
BITES, NO_BITE, NONE_EXPECTED = "bites", "no bite", "-"
WIDTH = 100


def control_of(case, outcome, is_root):
    """(word, reason) about the backend none: whether the case is known to be an attack."""
    if outcome is None or outcome["verdict"] in (NOT_RUN, ERROR):
        word = NOT_RUN if outcome is None else outcome["verdict"]
        return word, "" if outcome is None else outcome["how"]
    if outcome["verdict"] == FELL:
        return BITES, ""
    if case.is_to_bite(is_root):
        return NO_BITE, "it fails on this host where nothing protects, so that being held says little"
    if case.bites == NOBODY:
        return NONE_EXPECTED, case.unless
    return NONE_EXPECTED, f"only {case.bites} succeeds with it where nothing protects"


class Run:
    """The cases of a run with what came of them: {backend: {key: {verdict, how, seconds}}}."""

    def __init__(self, cases, backends, unavailable, results, facts):
        self.cases, self.backends, self.unavailable = cases, backends, unavailable
        self.results, self.facts = results, facts

    def outcome(self, case, backend):
        return self.results.get(backend, {}).get(case.key)

    def control(self, case):
        return control_of(case, self.outcome(case, "none"), self.facts["uid"] == 0)

    def isolating(self):
        return [name for name in self.backends if name != "none"]

    def with_verdict(self, verdict, backend):
        found = []
        for case in self.cases:
            outcome = self.outcome(case, backend)
            if outcome and outcome["verdict"] == verdict:
                found.append((case, outcome["how"]))
        return found

    def fell(self):
        return [(case, name, how) for name in self.isolating() for case, how in self.with_verdict(FELL, name)]

    def errors(self):
        return [(case, name, how) for name in self.backends for case, how in self.with_verdict(ERROR, name)]

    def exit_code(self):
        return 1 if self.fell() else 125 if self.errors() else 0


def as_json(run):
    cases = []
    for case in run.cases:
        word, why = run.control(case)
        cases.append({"name": case.key, "kind": case.kind, "what": case.what, "bites": case.bites,
                      "control": {"verdict": word, "reason": why or None},
                      "backends": {name: run.outcome(case, name) for name in run.isolating()}})
    counts = {name: {verdict: len(run.with_verdict(verdict, name)) for verdict in (HELD, FELL, NOT_RUN, ERROR)}
              for name in run.isolating()}
    controls = [run.control(case)[0] for case in run.cases]
    counts["control"] = {word: controls.count(word) for word in (BITES, NO_BITE, NONE_EXPECTED, NOT_RUN, ERROR)}
    return json.dumps({"v": 1, **run.facts, "backends": run.isolating(), "unavailable": run.unavailable,
                       "counts": counts, "cases": cases}, indent=1)


def listing(cases):
    width = max(len(case.key) for case in cases)
    lines = [f"{case.key:<{width}} {case.kind:<11} {case.what}" for case in cases]
    return "\n".join(lines) + f"\n{len(cases)} attacks\n"


def list_json(cases):
    return json.dumps([{"name": case.key, "kind": case.kind, "what": case.what, "bites": case.bites,
                        "needs": list(case.needs)} for case in cases], indent=1)


def table(run):
    """A line for each case, then what needs words, then the counts."""
    backends = run.isolating()
    width = max(len(case.key) for case in run.cases)
    lines = [f"{'attack':<{width}} {'control':<8} " + " ".join(f"{name:<9}" for name in backends).rstrip()]
    for case in run.cases:
        verdicts = [(run.outcome(case, name) or {"verdict": NOT_RUN})["verdict"] for name in backends]
        shown = [verdict.upper() if verdict in (FELL, ERROR) else verdict for verdict in verdicts]
        line = f"{case.key:<{width}} {run.control(case)[0]:<8} " + " ".join(f"{word:<9}" for word in shown)
        lines.append(line.rstrip())
    lines += ["", *explanations(run), *counts(run)]
    return "\n".join(lines) + "\n"


def explanations(run):
    """What fell and what could not be run, with the reason; each reason once."""
    lines = []
    for case, backend, how in run.fell():
        lines.append(f"FELL on {backend}: {case.key}: {how}")
    for case, backend, how in run.errors():
        lines.append(f"ERROR on {backend}: {case.key}: {how}")
    reasons = {}
    for case in run.cases:
        for name in run.isolating():
            outcome = run.outcome(case, name)
            if outcome and outcome["verdict"] == NOT_RUN:
                reasons.setdefault(outcome["how"], {}).setdefault(case.key, []).append(name)
    for how, keys in reasons.items():
        places = sorted({name for names in keys.values() for name in names})
        lines += wrapped(f"not run on {', '.join(places)}: {how}: ", keys)
    for name, why in run.unavailable.items():
        lines += wrapped(f"not run on {name}: {why}", [])
    controls = {}
    for case in run.cases:
        word, why = run.control(case)
        if word in (NO_BITE, ERROR) or word == NOT_RUN and why not in reasons:
            controls.setdefault((word, why), []).append(case.key)
    for (word, why), keys in controls.items():
        lines += wrapped(f"control: {word}: {why}: ", keys)
    return [*lines, ""] if lines else []


def wrapped(text, keys):
    return textwrap.wrap(text + ", ".join(keys), WIDTH, subsequent_indent="  ", break_long_words=False)


def counts(run):
    controls = [run.control(case)[0] for case in run.cases]
    lines = [f"{len(run.cases)} attacks by {run.facts['user']} on Linux {run.facts['kernel']}; "
             f"{controls.count(BITES)} of them succeed where nothing protects"]
    for name in run.isolating():
        words = [f"{len(run.with_verdict(verdict, name))} {verdict}" for verdict in (HELD, FELL, NOT_RUN)]
        if run.with_verdict(ERROR, name):
            words.append(f"{len(run.with_verdict(ERROR, name))} could not be judged")
        lines.append(f"{name}: " + ", ".join(words))
    return lines
