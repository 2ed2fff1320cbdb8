# hutch init and deinit on a machine that has such users already.
import os
import subprocess

import pytest
from numbers_of_users import own_numbers

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="root alone makes users")

OWN = """mount -t tmpfs none /mnt && cp -a /etc /mnt/etc && mount --bind /mnt/etc /etc
mount -t tmpfs -o mode=755 none /var/lib && sed -i '/^hutch:/d' /etc/passwd /etc/group /etc/shadow
touch /etc/debian_version; rm -f /etc/cron.allow
"""


def on_a_machine(base, script):
    done = subprocess.run(["unshare", "--mount", "sh", "-c", f"{OWN}{own_numbers()}\nhutch={base.bin}/hutch\n{script}"],
                          capture_output=True, text=True, timeout=120, check=False)
    return done.stdout + done.stderr


def test_a_person_called_hutch_is_left_alone(base):
    said = on_a_machine(base, """useradd --uid 61311 --no-create-home --home-dir /mnt/person hutch
$hutch deinit; echo deinit $?; $hutch init; echo init $?; $hutch init --agent bob; echo agent $?
grep ^hutch: /etc/passwd; grep ^agent-bob: /etc/passwd; ls /var/lib""")
    assert "deinit 125" in said and "init 125" in said and "agent 125" in said, said
    assert "hutch:x:61311:" in said and "agent-bob:" not in said and "is not hutch's" in said, said


@pytest.mark.parametrize("word", ["", " --agent bob"])
def test_nothing_is_run_as_a_person_who_is_called_as_an_agents_user(base, word):
    name = "agent-bob" if word else "hutch"
    said = on_a_machine(base, f"""useradd --uid 4711 --no-create-home --home-dir /mnt/person {name}
mkdir -m 755 /mnt/own; echo x > /mnt/own/file; export HUTCH_STATE=/mnt/state
$hutch share{word} /mnt/own; echo share $?; $hutch service init{word}; echo service $?
if [ -z "{word}" ]; then $hutch run --backend user --cwd / -- id -u; echo run $?; $hutch doctor; fi
grep 4711 /etc/systemd/system/*; getfacl -n /mnt/own""")
    assert "share 125" in said and "service 125" in said and "is a person, with the home /mnt/person" in said, said
    assert word or "run 125" in said, said
    assert "user:4711" not in said and "\n4711\n" not in said, said


def test_the_common_user_stays_while_an_agents_user_is_in_its_group(base):
    said = on_a_machine(base, """$hutch init --agent bob > /dev/null; $hutch deinit; echo deinit $?
$hutch init > /dev/null; echo init $?
$hutch deinit --agent bob > /dev/null; $hutch deinit > /dev/null; echo gone $?; $hutch init > /dev/null; echo new $?""")
    assert "deinit 125" in said and "init 0" in said and "hutch deinit --agent bob" in said, said
    assert "gone 0" in said and "new 0" in said, said


STATE = """export HUTCH_STATE=/mnt/state; mkdir -p $HUTCH_STATE/config
echo '{"network": "host"}' > $HUTCH_STATE/config/default.json; touch /etc/at.deny; mkdir -m 755 /mnt/root
echo secret > /mnt/root/file; chmod 600 /mnt/root/file; chmod 755 /mnt
reads() { setpriv --reuid $1 --regid $1 --clear-groups cat /mnt/root/file > /dev/null 2>&1 && echo reads || echo held; }
number() { sed -n "s/^$1:x:\\([0-9]*\\):.*/\\1/p" /etc/passwd; }
"""


def test_the_next_agent_has_nothing_of_the_last_ones(base):
    said = on_a_machine(base, STATE + """$hutch agent create one backend=user > /dev/null; one=$(number agent-one)
$hutch share --agent one /mnt/root/file > /dev/null; echo one $(reads $one)
$hutch agent remove one > /dev/null; echo removed $?; echo shares $($hutch shared --json); echo nobody $(reads $one)
$hutch agent create two backend=user > /dev/null; two=$(number agent-two); echo two $(reads $two)
[ "$one" != "$two" ] && echo another number; grep -c "^$one agent-one$" /etc/hutch-helper/numbers
$hutch agent create one backend=user > /dev/null; [ "$(number agent-one)" != "$one" ] && echo no home, no number
$hutch daemon stop""")
    for line in ("one reads", "removed 0", "shares []", "nobody held", "two held", "another number", "1",
                 "no home, no number"):
        assert line in said.splitlines(), said


def test_a_kept_home_is_for_its_own_user_alone(base):
    said = on_a_machine(base, STATE + """$hutch init --agent one > /dev/null; one=$(number agent-one)
home=/var/lib/hutch/users/agent-one
setpriv --reuid agent-one --regid agent-one --init-groups sh -c "echo own > $home/note; chmod 666 $home/note"
$hutch share --agent one /mnt/root/file > /dev/null
$hutch deinit --agent one; stat -c 'kept %U:%a' $home $home/../output/agent-one; echo nobody $(reads $one)
$hutch init --agent two > /dev/null; two=$(number agent-two); [ "$one" != "$two" ] && echo another number
setpriv --reuid agent-two --regid agent-two --init-groups cat $home/note 2>&1 | grep -o denied
$hutch init --agent one > /dev/null; [ "$one" = "$(number agent-one)" ] && echo its own number again
setpriv --reuid agent-one --regid agent-one --init-groups cat $home/note
$hutch deinit --agent one > /dev/null; useradd --uid $one --no-create-home --home-dir /nowhere other
$hutch init --agent one; echo taken $?""")
    for line in ("nobody held", "another number", "denied", "its own number again", "own", "taken 125"):
        assert line in said.splitlines(), said
    assert said.count("kept root:700") == 2 and "move that directory away" in said, said


def test_what_is_mounted_in_a_home_outlives_the_agent(base):
    said = on_a_machine(base, STATE + """$hutch agent create one backend=user > /dev/null
home=/var/lib/hutch/users/agent-one; mkdir -p /mnt/data/below; echo precious | tee /mnt/data/file > /mnt/data/below/file
as_one() { setpriv --reuid agent-one --regid agent-one --init-groups "$@"; }
as_one mkdir -p $home/deep/data; mount --bind /mnt/data $home/deep/data
$hutch agent remove one; echo removed $?; cat /mnt/data/file /mnt/data/below/file
umount $home/deep/data; $hutch agent remove one > /dev/null; echo then $?; ls $home; $hutch daemon stop""")
    assert "something is mounted there" in said and "removed 125" in said.splitlines(), said
    assert said.splitlines().count("precious") == 2 and "then 0" in said.splitlines(), said
    assert "agent-one': No such file" in said, said


def test_an_agent_stays_whole_while_something_else_is_its_user(base):
    """It could put links in the way of root, which removes the home."""
    said = on_a_machine(base, STATE + """$hutch agent create one backend=user > /dev/null; one=$(number agent-one)
home=/var/lib/hutch/users/agent-one; $hutch share --agent one /mnt/root/file > /dev/null
setpriv --reuid agent-one --regid agent-one --init-groups sh -c "echo note > $home/note; exec sleep 600" > /dev/null &
for _ in $(seq 100); do [ -s $home/note ] && break; sleep 0.1; done
$hutch agent remove one; echo removed $?; cat $home/note; echo one $(reads $one)
kill $!; wait; $hutch agent remove one > /dev/null; echo then $?; ls $home; $hutch daemon stop""")
    for line in ("removed 125", "note", "one reads", "then 0"):
        assert line in said.splitlines(), said
    assert "runs as agent-one" in said and "agent-one': No such file" in said, said


def test_deinit_leaves_nothing_to_the_next_user_of_the_name(base):
    said = on_a_machine(base, STATE + """mkdir -p /run/systemd/system; useradd --uid 61401 -M carol
mount --bind /bin/true /usr/bin/systemctl
people=/var/lib/hutch-people/hutch-carol
as_it() { setpriv --reuid hutch-carol --regid hutch-carol --init-groups "$@"; }
$hutch init --for carol > /dev/null; echo init $?
for place in $people $people.shared $people.output; do as_it sh -c "echo old > $place/note"; done
$hutch deinit --for 61401 --remove-homes; echo deinit $?; ls $people* 2>&1; ls /var/lib/hutch-people
$hutch deinit --for carol; echo again $?
$hutch init --for carol > /dev/null; as_it sh -c "echo old > $people/note"; userdel hutch-carol
$hutch deinit --for carol > /dev/null; echo stopped $?; stat -c 'kept %u:%a' $people $people.shared""")
    lines = said.splitlines()
    for line in ("init 0", "deinit 0", "again 0", "There is no user hutch-carol.", "stopped 0"):
        assert line in lines, said
    assert "The user hutch-carol is removed" in said and "note" not in lines and lines.count("kept 0:700") == 2, said


def test_what_is_bound_into_a_home_outlives_it(base):
    """Of the same file system, which rm --one-file-system does not tell from the home."""
    said = on_a_machine(base, """mkdir -p /run/systemd/system; useradd --uid 61401 -M carol
mount --bind /bin/true /usr/bin/systemctl; $hutch init > /dev/null; $hutch init --for carol > /dev/null
mkdir /var/lib/project; echo kept > /var/lib/project/file
for home in /var/lib/hutch/home /var/lib/hutch-people/hutch-carol; do
  mkdir $home/workspaces/project; mount --bind /var/lib/project $home/workspaces/project
done
$hutch deinit --remove-homes; echo common $?; $hutch deinit --for carol --remove-homes; echo carol $?
cat /var/lib/project/file; grep -c ^hutch /etc/passwd; umount /var/lib/hutch/home/workspaces/project
$hutch deinit --remove-homes > /dev/null; echo then $?; ls /var/lib/hutch; cat /var/lib/project/file""")
    lines = said.splitlines()
    assert {"common 125", "carol 125", "2", "then 0"} <= set(lines) and lines.count("kept") == 2, said
    assert "/var/lib/hutch/home/workspaces/project" in said and "home" not in lines, said


def test_what_is_bound_into_a_home_behind_a_link_outlives_it(base):
    """The kernel's list of mounts has no link of root's, as to a larger disk."""
    said = on_a_machine(base, """mkdir -p /run/systemd/system /var/lib/disk; useradd --uid 61401 -M carol
mount --bind /bin/true /usr/bin/systemctl; $hutch init --for carol > /dev/null; people=/var/lib/hutch-people
mv $people /var/lib/disk/people; ln -s disk/people $people
mkdir /var/lib/project $people/hutch-carol/workspaces/project; echo kept > /var/lib/project/file
mount --bind /var/lib/project $people/hutch-carol/workspaces/project
$hutch deinit --for carol --remove-homes; echo refused $?
cat /var/lib/project/file; id -u hutch-carol && echo there""")
    assert {"refused 125", "kept", "there"} <= set(said.splitlines()), said


def test_deinit_of_somebody_who_is_gone_can_be_done_again(base):
    said = on_a_machine(base, """mkdir -p /run/systemd/system; useradd --uid 61403 -M frank
mount --bind /bin/true /usr/bin/systemctl
$hutch init --for frank > /dev/null; userdel frank
setpriv --reuid hutch-frank --regid hutch-frank --init-groups sleep 600 > /dev/null &
for _ in $(seq 100); do grep -q sleep /proc/$!/comm && break; sleep 0.1; done
$hutch deinit --for frank > /dev/null; echo first $?; cat /etc/hutch-helper/people/61403/hutch-frank
kill $!; wait; $hutch deinit --for frank > /dev/null; echo then $?; grep -c ^hutch-frank: /etc/passwd
ls /etc/hutch-helper/people""")
    lines = said.splitlines()
    assert "first 125" in lines and "leaving frank" in lines and "then 0" in lines, said
    assert "0" in lines and "61403" not in lines, said


def test_lists_of_lines_keep_those_of_others(base):
    said = on_a_machine(base, """touch /etc/cron.deny; useradd --badname -M mary.ann; useradd --badname -M mary-ann
mkdir -p /etc/sudoers.d /run/systemd/system
mount --bind /bin/true /usr/bin/systemctl
$hutch init --for mary.ann > /dev/null; $hutch init --for mary-ann > /dev/null; truncate -s -1 /etc/hutch-helper/numbers
$hutch deinit --for mary.ann > /dev/null; grep mary /etc/cron.deny
$hutch init --agent three > /dev/null; $hutch init --agent four > /dev/null; echo four $?""")
    lines = said.splitlines()
    assert "hutch-mary-ann" in lines and "hutch-mary.ann" not in lines and "four 0" in lines, said


def test_whoever_may_not_look_at_the_homes_is_told_what_root_would_do(base):
    said = on_a_machine(base, """$hutch init --agent one > /dev/null; export HOME=/tmp
for agent in one two; do setpriv --reuid 61234 --regid 61234 --clear-groups $hutch init --agent $agent --dry-run
echo $agent $?; done; setpriv --reuid 61234 --regid 61234 --clear-groups $hutch deinit --agent one --dry-run""")
    lines = said.splitlines()
    assert "one 0" in lines and "two 0" in lines and "userdel agent-one" in lines, said
