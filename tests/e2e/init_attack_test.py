# hutch init and deinit on a machine that has such users already.
import os
import subprocess

import pytest

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="root alone makes users")

OWN = """mount -t tmpfs none /mnt && cp -a /etc /mnt/etc && mount --bind /mnt/etc /etc
mount -t tmpfs -o mode=755 none /var/lib && sed -i '/^hutch:/d' /etc/passwd /etc/group /etc/shadow
touch /etc/debian_version; rm -f /etc/cron.allow
"""


def on_a_machine(base, script):
    done = subprocess.run(["unshare", "--mount", "sh", "-c", f"{OWN}hutch={base.bin}/hutch\n{script}"],
                          capture_output=True, text=True, timeout=120, check=False)
    return done.stdout + done.stderr


def test_a_person_called_hutch_is_left_alone(base):
    said = on_a_machine(base, """useradd --uid 61311 --no-create-home --home-dir /mnt/person hutch
$hutch deinit; echo deinit $?; $hutch init; echo init $?; $hutch init --agent bob; echo agent $?
grep ^hutch: /etc/passwd; grep ^agent-bob: /etc/passwd; ls /var/lib""")
    assert "deinit 125" in said and "init 125" in said and "agent 125" in said, said
    assert "hutch:x:61311:" in said and "agent-bob:" not in said and "is not hutch's" in said, said


def test_the_common_user_stays_while_an_agents_user_is_in_its_group(base):
    said = on_a_machine(base, """$hutch init --agent bob > /dev/null; $hutch deinit; echo deinit $?
$hutch init > /dev/null; echo init $?
$hutch deinit --agent bob > /dev/null; $hutch deinit > /dev/null; echo gone $?; $hutch init > /dev/null; echo new $?""")
    assert "deinit 125" in said and "init 0" in said and "hutch deinit --agent bob" in said, said
    assert "gone 0" in said and "new 0" in said, said
