# Agents that are OS users, with hutch's programs in a directory that the sandbox has one of its own over.
import os
import subprocess

import pytest
from numbers_of_users import own_numbers

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="root alone makes users")

AGENT = """
touch /etc/debian_version; rm -f /etc/cron.allow
$hutch agent create one backend=user > /dev/null
$hutch exec one -- sh -c 'id -un; hutch-host --help > /dev/null 2>&1; echo host $?; ls /tmp'
$hutch agent remove one > /dev/null; $hutch daemon stop
"""


def test_programs_below_tmp_start_an_agent(base):
    """/tmp is the sandbox's own there, and hutch-host is still the program that lies below the machine's."""
    own = ("mount -t tmpfs none /mnt && cp -a /etc /mnt/etc && mount --bind /mnt/etc /etc"
           " && mount -t tmpfs -o mode=755 none /var/lib && mount -t tmpfs -o mode=1777 none /tmp"
           f" && mkdir /tmp/programs && cp {base.bin}/hutch* /tmp/programs")
    state = f"export HUTCH_STATE={base.path}/state-below-tmp; hutch=/tmp/programs/hutch"
    script = f"set -x; {own}; {own_numbers()}; {state}\n{AGENT}"
    said = subprocess.run(["unshare", "--mount", "sh", "-c", script], capture_output=True, text=True, timeout=200)
    assert said.stdout.splitlines() == ["agent-one", "host 0"], said.stdout + said.stderr
