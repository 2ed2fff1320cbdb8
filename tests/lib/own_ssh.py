# A host with an /etc/ssh of the tests' own, in a mount namespace that root makes.
import os
import shutil

import pytest

HOST = """set -e
mount -t tmpfs -o mode=755 none /mnt
cp -a /etc/ssh /mnt/ssh
mount --bind /mnt/ssh /etc/ssh
cp /etc/passwd /mnt/passwd
echo '{account}' >> /mnt/passwd
mount --bind /mnt/passwd /etc/passwd
mkdir -p /etc/ssh/ssh_config.d
printf 'Include /etc/ssh/ssh_config.d/*.conf\\nHost *\\n' > /etc/ssh/ssh_config
cd /etc/ssh/ssh_config.d
{change}
cd {cwd}
exec "$@"
"""


def skip_unless_possible():
    if os.geteuid() != 0:
        pytest.skip("making an /etc/ssh of the test's own needs root")
    if shutil.which("ssh") is None:
        pytest.skip("ssh is not installed")


def enter(person, change, cwd):
    """What goes before a command: `change`, a script, makes the drop-ins, in whose directory it runs."""
    # ssh ends at once for a user without an account.
    account = f"{person.name}:x:{person.uid}:{person.gid}::{person.home}:/bin/sh"
    return ["unshare", "--mount", "sh", "-c", HOST.format(account=account, change=change, cwd=cwd), "sh"]
