# The table of developers' work: git with servers, submodules and files that programs outside obey.
from work import GIT, Work, text

SSHD = text("""
    ssh-keygen -q -t ed25519 -N '' -f host_key; ssh-keygen -q -t ed25519 -N '' -f key; cp key.pub allowed
    printf '%s\\n' "Port $PORT" 'ListenAddress 127.0.0.1' "HostKey $PWD/host_key" "AuthorizedKeysFile $PWD/allowed" \\
      'StrictModes no' 'UsePAM no' 'PidFile none' > sshd_config
    /usr/sbin/sshd -D -e -f sshd_config 2> log &
    until grep -q 'Server listening' log; do sleep 0.05; done
    printf '%s\\n' 'Host there' "  HostName 127.0.0.1" "  Port $PORT" "  User $(id -un)" > client
    echo "[127.0.0.1]:$PORT $(cat host_key.pub)" > known
""")
SSH = 'export GIT_SSH_COMMAND="ssh -F $PWD/client -i $PWD/key -o UserKnownHostsFile=$PWD/known"; '
LIBRARY = GIT + text("""
    git config --global protocol.file.allow always
    git init -q lib; cd lib; echo 'int twice(int n) { return 2 * n; }' > twice.c; git add .; git commit -qm 1; cd ..
""")
# By the name that filesystem.allowObeyed has for it.
EDITORS = {".claude/settings.json": ".claude/settings.json", ".gitmodules": ".gitmodules", ".mcp.json": ".mcp.json",
           ".vscode/settings.json": ".vscode"}
PROJECT = LIBRARY + text("""
    git init -q origin; cd origin; git submodule --quiet add ../lib lib; mkdir -p .vscode .githooks .claude src
    for f in .vscode/settings.json .mcp.json .claude/settings.json; do echo '{}' > $f; done
    printf '#!/bin/sh\\nexit 0\\n' > .githooks/pre-commit; chmod 755 .githooks/pre-commit; ln -s src/t.c link
    echo 't' > .gitignore; echo 'root = true' > .editorconfig; printf '* text=auto\\n*.h eol=crlf\\n' > .gitattributes
    printf 'test: t\\n\\t./t && echo tested\\nt: src/t.c lib/twice.c\\n\\tgcc -o $@ $^\\n' > Makefile
    echo 'int twice(int n);' > src/t.h
    printf '#include "t.h"\\nint main() { return twice(21) - 42; }\\n' > src/t.c
    git add .; git commit -qm 1
""")
CLONE = GIT + """
        git config --global protocol.file.allow always
        git clone -q --recurse-submodules origin copy 2> said; cd copy; make -s test; git submodule status | wc -l
        find . -name .git -prune -o -name t -o -type f -exec sha256sum {} + | LC_ALL=C sort
        find . -name .git -prune -o ! -type d -printf '%M %p %l\\n' | LC_ALL=C sort
"""

WORKS = [
    Work("git over ssh: clone, fetch and push, a server on the host", "git", GIT + SSH + """
        git clone -q there:$(cat where)/store copy; cd copy; cat f; echo 2 > f; git commit -qam 2
        git push -q origin main; git fetch -q; git rev-list --count origin/main; git ls-remote -q origin | cut -f2
    """, ("git", "ssh", "/usr/sbin/sshd"), ordinary=True, policy={"network": {"hostPorts": ["$PORT"]}},
         host=SSHD + GIT + text("""
             git init -q --bare store; git clone -q store first 2> log2; cd first
             echo 1 > f; git add .; git commit -qm 1; git push -q origin main; cd ..; echo ready; wait
         """), before="cp $HOST/key $HOST/client $HOST/known .; dirname $PWD > where; "
                      "git clone -q --bare $HOST/store ../store",
         note="the policy has the server's port in `network.hostPorts`"),
    Work("git over ssh: a server in the sandbox", "git", GIT + SSHD + SSH + """
        git init -q origin; git -C origin commit -q --allow-empty -m 1; git clone -q there:$PWD/origin copy
        git -C copy log --format=%s; kill $!
    """, ("git", "ssh", "/usr/sbin/sshd"), ordinary=True),
    Work("git: sparse-checkout", "git", GIT + """
        git init -q o; cd o; for d in a b c; do mkdir $d; echo $d > $d/f; done; git add .; git commit -qm 1; cd ..
        git clone -q --no-checkout --sparse o c; cd c; git sparse-checkout set a; git checkout -q main; ls
        git sparse-checkout add b; ls; git sparse-checkout disable; ls; git status --short
    """, ("git",)),
    Work("git: a repository is copied, packed, unpacked, moved and removed", "git", LIBRARY + """
        cp -a lib copied; tar -cf lib.tar lib; mkdir unpacked; tar -xf lib.tar -C unpacked; sleep 0.1
        python3 -c 'import shutil; shutil.copytree("lib", "tree")'; mkdir below; mv copied below/moved
        for one in below/moved unpacked/lib tree; do git -C $one log --format=%s; git -C $one status --short; done
        cmp lib/.git/config below/moved/.git/config; cmp lib/.git/config unpacked/lib/.git/config
        sed -i 's/filemode = true/filemode = false/' tree/.git/config; git -C tree config core.filemode
        git clone -q lib again; rm -rf again below unpacked tree; git clone -q lib again; ls
        git clone -q --bare lib lib.git; cp -a lib.git other.git; git -C other.git log --format=%s
        rm -rf lib.git other.git; ls
    """, ("git",)),
    Work("rsync: a repository with its hooks' samples", "git", LIBRARY + """
        touch lib/.git/hooks/pre-commit.sample; rsync -a lib/ same; git -C same log --format=%s
        rsync -a --delete lib/ same; ls same/.git/hooks; cmp lib/.git/config same/.git/config
    """, ("git", "rsync")),
    Work("cargo: a new package is a repository", "git", """
        export HOME=$PWD; cargo new --quiet made; git -C made status --short; ls -A made
    """, ("cargo", "git")),
    Work("git: a submodule is added, cloned and updated", "git", LIBRARY + """
        git init -q main; cd main; git submodule --quiet add ../lib lib; git commit -qm 'with lib'; cat .gitmodules
        cd ..; git clone -q --recurse-submodules main copy; git -C copy submodule status | cut -c43-
        cat copy/lib/twice.c
        git -C lib commit -q --allow-empty -m 2; cd copy; git submodule --quiet update --remote 2> said
        git status --short
    """, ("git",), policy={"filesystem": {"allowObeyed": [".gitmodules"]}},
         note="the policy has `.gitmodules` in `filesystem.allowObeyed`"),
    Work("git: a submodule is added, with the built-in policy", "git", LIBRARY + """
        git init -q main; cd main; git submodule --quiet add ../lib lib
    """, ("git",), refused=".gitmodules was refused",
         note="git obeys `.gitmodules`: hutch names it, and what allows it"),
    Work("git lfs: track, push and clone, a store of the project", "git", GIT + """
        git lfs install > /dev/null
        git init -q --bare store; git clone -q file://$PWD/store o 2> said; cd o; git lfs track '*.bin'
        head -c 300000 /dev/zero > a.bin; git add .; git commit -qm 1
        git lfs push --all origin main > ../said 2>&1; git push -q origin main > ../said 2>&1; cd ..
        git clone -q file://$PWD/store c; cd c; stat -c %s a.bin; git lfs fsck; git cat-file -p :a.bin | head -1
    """, ("git", "git-lfs"),
         note="hutch refuses the hook `pre-push` that `git lfs track` makes: push with `git lfs push` first"),
    Work("git: clone, build and test a project with a submodule, hooks and editors' files", "git", CLONE,
         ("git", "make", "gcc"), before=PROJECT, held=tuple(EDITORS),
         note="hutch does not write what Visual Studio Code, Claude Code and git obey, and names each file: "
              + ", ".join(f"`{name}`" for name in EDITORS)),
    Work("git: the same project, its files allowed by the policy", "git", CLONE + "        git status --short\n",
         ("git", "make", "gcc"), before=PROJECT,
         policy={"filesystem": {"allowObeyed": list(EDITORS.values())}},
         slow=True,
         note="the policy has these names in `filesystem.allowObeyed`; every file, mode and link is the same"),
]
