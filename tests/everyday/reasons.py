# Why a work of the table ends otherwise in an agent of the backends container, vm and user, or is not tried there.
import dataclasses

BACKENDS = ["container", "vm", "user"]


@dataclasses.dataclass(frozen=True)
class Reason:
    """`text` stands below the page's tables. A work that fails for this reason prints `shown`, or the record has it.
    With `works` it ends as outside, although hutch refuses it, or parts of it, on the backends of the other columns.
    A `fault` is hutch's: the work should do as outside. With none of these it is not tried."""

    text: str
    shown: str = ""
    works: bool = False
    fault: bool = False

    @property
    def tried(self):
        return self.works or self.fault or bool(self.shown)


NO_SOCKETS = Reason("The work makes a Unix socket. These backends refuse Unix sockets, except pairs "
                    "([containers.md](containers.md#what-is-in-it), [sharing.md](sharing.md#running-as-the-user)).",
                    "a Unix socket was refused")
NO_NAMES = Reason("Nothing supervises files there. hutch protects only names that exist when the sandbox starts, and "
                  "on `user` no names ([walls.md](walls.md#what-stays-open-by-feature), "
                  "[sharing.md](sharing.md#running-as-the-user)). So hutch does not refuse these files.", works=True)
NPM = Reason("The packages are of npm's registry. `./dev works` installs them on the host, and these agents do not see "
             "that directory.")
MOUNT = Reason("The work is about a mount of the host. `vm` and `user` show only the agent's own directories, and the "
               "container of this run exists before the mount.")

NO_ATTRIBUTES = Reason("The agent's directories are the host's, without extended attributes.",
                       "Operation not supported")
PORT = Reason("A virtual machine has the ports of `network.hostPorts` at 10.0.2.2, and not at its own loopback "
              "([vm.md](vm.md#what-a-command-has)).", "Connection refused")
NO_CLIENT = Reason("The image does not have docker's client.")
SLOW = Reason("The work takes many minutes in a virtual machine without KVM. So it is not tried there.")

SOCKETS = ("gpg: a key, a signature, a signed commit", "python: processes, shared memory, a manager",
           "python: asyncio over a Unix socket", "PostgreSQL: a cluster, a server, a query",
           "tmux: a session in the background", "redis: a server by TCP and a Unix socket, saved and loaded",
           "nginx: files, a proxy to another server")
NAMES = ("git: a submodule is added, with the built-in policy",
         "git: clone, build and test a project with a submodule, hooks and editors' files")
OF_WORKS = {**{name: dict.fromkeys(BACKENDS, NO_SOCKETS) for name in SOCKETS},
            **{name: dict.fromkeys(BACKENDS, NO_NAMES) for name in NAMES},
            "extended attributes, kept by cp, tar and rsync": {"vm": NO_ATTRIBUTES},
            "git over ssh: clone, fetch and push, a server on the host": {"vm": PORT},
            "docker without its socket": {"container": NO_CLIENT, "vm": NO_CLIENT}}


def of(work, way):
    """None where it works there, or was refused, as on the other backends."""
    if way not in BACKENDS:
        return None
    if way in work.fails:
        return Reason(f"A fault of hutch: {work.fails[way]}.", fault=True)
    if work.npm:
        return NPM
    if work.mount:
        return MOUNT
    if work.slow and way == "vm":
        return SLOW
    return OF_WORKS.get(work.name, {}).get(way)
