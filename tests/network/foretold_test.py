# Connections: `hutch check connect` says beforehand what comes of them, by name and by address.
"""Each row is tried in a run on both backends, where somebody answers what is asked."""

import pytest

import caller

DENY = '{"network": {"allowedDomains": ["*.good.example"], "deniedDomains": ["api.good.example"]}}'
STRICT = '{"network": {"allowedDomains": ["good.example"], "strictAllowlist": true}}'
# Whom, what the policy says, and what check says of it.
ROWS = {
    "a name that is allowed": ("good.example:80", ["--allow-domain", "good.example"], "allowed"),
    "the same, written otherwise": ("GOOD.example.:80", ["--allow-domain", "good.example"], "allowed"),
    "another port of it": ("good.example:8080", ["--allow-domain", "good.example:80"], "ask"),
    "a name below an allowed one": ("api.good.example:80", ["--allow-domain", "*.good.example"], "allowed"),
    "a name above an allowed one": ("good.example:80", ["--allow-domain", "*.good.example"], "ask"),
    "a name that is denied though allowed": ("api.good.example:80", DENY, "denied"),
    "no rule": ("good.example:80", [], "ask"),
    "no rule, and nobody is asked": ("other.example:80", STRICT, "denied"),
    "an address that is allowed": ("203.0.113.10:80", ["--allow-domain", "203.0.113.10"], "allowed"),
    "an address in a range": ("203.0.113.11:80", ["--allow-domain", "203.0.113.0/28"], "allowed"),
    "an address that no rule is about": ("203.0.113.10:80", [], "ask"),
    "no network": ("good.example:80", '{"network": "none"}', "denied"),
}


@pytest.mark.parametrize("row,choice", [(row, choice) for row, (_, _, foretold) in ROWS.items()
                                        for choice in (("no", "session") if foretold == "ask" else ("no",))])
def test_check_foretells_it(hutch, as_user, project, backend, row, choice):
    target, rules, foretold = ROWS[row]
    options = rules
    if isinstance(rules, str):
        as_user.write(project / "policy.json", rules)
        options = ["--policy", "policy.json"]
    checked = hutch("check", "--backend", backend, *options, "connect", target)
    assert checked.text.startswith(f"{foretold}: "), str(checked)
    # Of the other kind of address it would ask anew after a no.
    script = f"curl -4 -sS --noproxy '*' --max-time 40 -o /dev/null -w '%{{http_code}}' http://{target}/ || true"
    asked = []
    with caller.running(hutch, script, *options) as (outside, process):
        while (line := outside.next())["type"] != "done":
            if line["type"] == "question":
                asked.append((line["kind"], line["host"], line["port"]))
                outside.say(type="answer", id=line["id"], choice=choice)
        out, err = process.communicate(timeout=60)
    reached = foretold == "allowed" or choice == "session"
    assert (out == b"200") == reached, (out, err)
    assert len(asked) == (foretold == "ask"), (asked, err)
