# The table of developers' work: file systems that projects lie on, environments, and what hutch refuses.
from work import GIT, Work

BARE = {"HOME": None, "PATH": None, "LANG": None, "USER": None, "LOGNAME": None, "TERM": None, "XDG_CONFIG_HOME": None,
        "XDG_DATA_HOME": None}
USUAL = GIT + """
        git init -q .; echo 1 > f; git add f; git commit -qm 1; ln -s f l; ln f hard; mv hard g; mkdir -p d/e; mv g d/e
        printf 'all: f\\n\\tcp f made\\n' > Makefile; make -s
        find . -name .git -prune -o -printf '%M %n %p %l\\n' | LC_ALL=C sort
        flock f echo locked; rm -r d; git status --short
"""

WORKS = [
    Work("a project on tmpfs", "file systems", USUAL, ("git", "make", "flock"),
         mount='mount -t tmpfs none "$1"'),
    Work("a project on overlayfs", "file systems", USUAL, ("git", "make", "flock"),
         mount='cd "${1%/*}"; mkdir l u w; mount -t overlay -o lowerdir=l,upperdir=u,workdir=w none "$1"'),
    Work("a project on a bind mount", "file systems", USUAL, ("git", "make", "flock"),
         mount='cd "${1%/*}"; mkdir real; mount --bind real "$1"'),
    Work("100,000 files: made, found, in a repository, removed", "files", GIT + """
        git init -q .; mkdir t; cd t; seq 100 | xargs mkdir; for d in *; do (cd $d; seq 1000 | xargs touch); done; cd ..
        find t -type f | wc -l; git add .; git commit -qm 1; echo x > t/5/5; rm t/6/6; git status --short; rm -rf t
        git status --short | wc -l
    """, ("git",), slow=True),
    Work("hutch started by cron: no HOME, no PATH", "scripts", """
        pwd | grep -o 'project$'; echo x > f; cat f; ls; test -n "$PATH" && echo found
    """, env=BARE),
    Work("systemd-run: a unit of the session", "refused", "systemd-run --user true", ("systemd-run",), refused="bus",
         note="the session's bus is not there"),
    Work("hutch in a sandbox", "refused", "$HUTCH run -- true", refused="a sandbox makes no other",
         note="no sandbox makes namespaces"),
]
