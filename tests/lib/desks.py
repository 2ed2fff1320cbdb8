# Somebody's home with pi in it, and what is needed to start pi there.
import json

import harness
import pi as rig

numbers = iter(range(1_000_000))


class Desk:
    """Somebody's home with pi and its extension, a project in it, and what is needed to start pi there."""

    def __init__(self, base, person, package):
        self.person, self.package = person, package
        self.home = person.mkdir(person.home / f"pi-{next(numbers)}")
        self.state = person.mkdir(self.home / "state")
        self.project = person.mkdir(self.home / "project")
        self.hutch = base.bin / "hutch"
        self.agent = person.mkdir(self.home / ".pi" / "agent")
        self.extensions = person.mkdir(self.agent / "extensions")
        self.model = rig.Model()
        person.write(self.agent / "models.json", rig.models(self.model.port))
        person.write(self.agent / "auth.json", json.dumps({"key": "stolen"}), mode=0o600)
        person.write(self.agent / "mcp-oauth" / "token", "stolen")
        person.write(self.agent / "skills" / "one" / "SKILL.md", "a skill\n")
        person.write(self.home / "secret", "theirs")
        self.started = []

    def environment(self):
        return {"HOME": str(self.home), "HUTCH_STATE": str(self.state), "HUTCH_PROGRAM": str(self.hutch),
                "SECRET_OF_THE_SHELL": "told"}

    def pi(self, *arguments, dialogs=None, **environment):
        made = rig.Pi(self.package, self.person, self.project, self.model, {**self.environment(), **environment},
                      arguments, dialogs)
        self.started.append(made)
        return made

    def __call__(self, *words, **options):
        return harness.run_in(self.person, [self.hutch, *words], env=self.environment(), cwd=self.project, **options)

    def agents(self):
        return [one["name"] for one in json.loads(self("agent", "list", "--json").ok().text)]

    def has_sandbox(self):
        return any(name.startswith("session-") for name in self.agents())

    def end(self):
        for one in self.started:
            one.kill()
        self("daemon", "stop")
