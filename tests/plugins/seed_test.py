# The seed's plugin on this machine's own system, and on an image: on every backend that needs no engine and no machine.
import dataclasses
import pathlib
import subprocess

import pytest

import daemons
import harness
import seed_plugin

pytestmark = [pytest.mark.slow, pytest.mark.timeout(2400)]

# The packages' files behind the machine's own, and which packages are installed; in a mount namespace that goes with
# the command. The daemon that a command starts is in it as well.
MOUNTS = "for place in usr etc/alternatives; do " \
         "mount -t overlay -o lowerdir=/$place:$0/$place overlay /$place || exit 1; done; " \
         "mount --bind $0/var/lib/dpkg /var/lib/dpkg && exec \"$@\""


@dataclasses.dataclass(frozen=True)
class WithPandas(harness.Person):
    """Somebody on whose machine python3-pandas is installed."""

    packages: pathlib.Path = None

    def command(self, argv):
        return ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", MOUNTS, str(self.packages)] + super().command(argv)


@pytest.fixture(scope="module")
def packages(base, pandas_archive):
    """Unpacked."""
    place = base.unused("pandas-packages")
    place.mkdir()
    subprocess.run(["tar", "-xf", pandas_archive, "-C", place, "./usr", "./etc/alternatives", "./var/lib/dpkg"],
                   check=True)
    return place


@pytest.mark.parametrize("backend", ["none", "bwrap", "namespace"])
@pytest.mark.parametrize("who", harness.PEOPLE)
def test_on_the_machines_own_system(base, packages, who, backend):
    person = base.person(who)
    daemon = daemons.Daemon(base, WithPandas(person.name, person.uid, person.home, packages))
    name = daemon.create(f"backend={backend}", "autonomousExec.commandTimeout=300")
    seed_plugin.works(daemon, name)
    daemon("agent", "remove", name).ok()
    daemon.stop()


def test_on_an_image(base, pandas_archive):
    daemon = daemons.Daemon(base, base.person("root"))
    daemon("image", "import", "pandas", pandas_archive, timeout=600).ok()
    name = daemon.create("image=pandas", "autonomousExec.commandTimeout=300")
    seed_plugin.works(daemon, name)
    daemon("agent", "remove", name).ok()
    daemon("image", "remove", "pandas", timeout=600).ok()
    daemon.stop()
