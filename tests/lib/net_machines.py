# A daemon whose agents are virtual machines, and whose network is the tests' own (tests/lib/internet.py).
"""NetDaemon(internet, root, base, person): machines are of that archive."""

import daemons
import placeholders


class NetDaemon(daemons.Daemon):
    def __init__(self, internet, root, base, person):
        super().__init__(base, person)
        # The kernel comes from where this machine takes its packages.
        self.internet = None
        self("vm", "provision", "--root", str(root), timeout=300).ok()
        self.internet = internet

    def options(self, given):
        options = super().options(given)
        return {"outer": self.internet.enter(options["cwd"]), **options} if self.internet else options

    def agent(self, name, *settings, **network):
        """Its name; the policy's network is that."""
        policy = placeholders.policy_of(self.internet, **network)
        file = self.person.write(self.state / f"{name}.json", policy)
        return self.create("backend=vm", f"policy={file}", *settings, name=name)
