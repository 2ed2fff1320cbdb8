# Which Debian packages a verb needs (packaging/dependencies), and installing those that are missing.
"""The check costs one dpkg-query, and nothing at all while neither the list nor dpkg's state has changed."""

import os
import shutil
import subprocess

from shell import Failed, call, path, say

DPKG_STATE = "/var/lib/dpkg/status"


def listed(groups):
    """[(package, reason)] of these groups, each package once."""
    found = {}
    with open(path("packaging", "dependencies"), encoding="utf-8") as lines:
        for line in lines:
            fields = line.split(None, 2)
            if len(fields) == 3 and not line.startswith("#") and fields[0] in groups:
                found.setdefault(fields[1], fields[2].strip())
    return list(found.items())


def missing(packages):
    names = [name for name, _ in packages]
    query = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *names],
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    installed = {line.split()[0] for line in query.stdout.decode().splitlines() if line.endswith(" installed")}
    # What another package brought is there as well: the npm of a nodejs from elsewhere, which excludes Debian's.
    return [(name, reason) for name, reason in packages if name not in installed and not shutil.which(name)]


def stamp_file(groups):
    return path("build", ".packages-" + "-".join(sorted(groups)))


def stamp_is_fresh(stamp):
    try:
        made = os.stat(stamp).st_mtime
        return made > os.stat(path("packaging", "dependencies")).st_mtime and made > os.stat(DPKG_STATE).st_mtime
    except OSError:
        return False


def write_stamp(stamp):
    try:
        os.makedirs(os.path.dirname(stamp), exist_ok=True)
        with open(stamp, "w", encoding="utf-8"):
            pass
    except OSError:
        pass  # a tree that belongs to someone else: the check is made again next time


def install(names):
    """By apt-get, whose output goes to a log; when it fails, the one command that mends it."""
    by_hand = "apt-get install " + " ".join(names)
    if not shutil.which("apt-get"):
        raise Failed("there is no apt-get here; install these by hand: " + " ".join(names))
    prefix = []
    if os.geteuid() != 0:
        if not shutil.which("sudo"):
            raise Failed(f"not root and no sudo; as root: {by_hand}")
        prefix = ["sudo"]
    environment = ["env", "DEBIAN_FRONTEND=noninteractive"]
    options = ["-q", "-y", "--no-install-recommends"]
    say(f"installing {len(names)} packages with apt-get")
    os.makedirs(path("build"), exist_ok=True)
    log = path("build", "apt.log")
    with open(log, "wb") as kept:
        # The lists of a fresh machine are empty or old: fetch them first, and go on with what there is if that fails.
        fetched = call([*prefix, "apt-get", "update", "-q"], stdout=kept, stderr=kept)
        installed = call([*prefix, *environment, "apt-get", "install", *options, *names], stdout=kept, stderr=kept)
    if installed != 0:
        network = "" if fetched == 0 else " (the package lists could not be fetched: is there a network?)"
        raise Failed(f"could not install: {' '.join(names)}{network}\n{last_lines(log)}\n"
                     f"The whole output is in {log}. To do it by hand, as root: {by_hand}")


def last_lines(log):
    with open(log, encoding="utf-8", errors="replace") as opened:
        wrong = [line.rstrip() for line in opened if line.startswith(("E:", "W:", "dpkg: error"))]
    return "\n".join("  " + line for line in wrong[-6:])


def ensure(*groups):
    """Installs what these groups lack, saying what and why."""
    stamp = stamp_file(groups)
    if stamp_is_fresh(stamp):
        return
    if not shutil.which("dpkg-query"):
        say("no dpkg here, so nothing is installed; needed: " + " ".join(name for name, _ in listed(groups)))
        return
    lacking = missing(listed(groups))
    if lacking:
        for name, reason in lacking:
            say(f"missing {name}: {reason}")
        install([name for name, _ in lacking])
    write_stamp(stamp)


def printed(arguments, *groups):
    """True when --print-packages was asked for, after printing the list."""
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    if "--print-packages" not in own:
        return False
    print("\n".join(name for name, _ in listed(groups)))
    return True
