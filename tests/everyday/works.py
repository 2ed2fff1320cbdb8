# What developers do all day, as a table: small projects that have to work inside as they do outside.
"""Each Work (work.py) is a script that runs in an empty project, first outside of any sandbox and then inside; what it
prints has to be the same. docs/works-inside.md is made from this table and its results (./dev works)."""

import works_builds
import works_git
import works_servers
import works_settings
import works_web
from work import GIT, PYTHON, Work, text

WORKS = [
    Work("git: clone, branch, merge, rebase, stash", "git", GIT + """
        git init -q origin; cd origin; for i in 1 2 3; do echo $i > f$i; git add .; git commit -qm $i; done; cd ..
        git clone -q origin copy; cd copy; git checkout -qb side; echo s > s; git add .; git commit -qm s
        git checkout -q main; echo m > m; git add .; git commit -qm m; git merge -q side -m merged
        git checkout -qb again HEAD~1; git rebase -q main; echo x >> f1; git stash -q; git stash pop -q
        git status --porcelain; git log --format=%s; git push -q origin side; git -C ../origin branch --list side
    """, ("git",)),
    Work("git: bisect run", "git", GIT + """
        git init -q .; for i in 1 2 3 4 5 6; do echo $i > n; git add n; git commit -qm $i; done
        git bisect start HEAD HEAD~5 > /dev/null; git bisect run sh -c '[ $(cat n) -lt 4 ]' | grep -c 'first bad'
        git show -s --format=%s refs/bisect/bad
    """, ("git",)),
    Work("git: worktree in the project", "git", GIT + """
        git init -q main; cd main; echo a > a; git add .; git commit -qm a; git worktree add -q ../tree -b tree
        cd ../tree; echo b > b; git add .; git commit -qm b; git log --format=%s; git worktree list | wc -l
    """, ("git",)),
    Work("git: archive, gc and fsck", "git", GIT + """
        git init -q .; echo a > a; git add .; git commit -qm a; git archive HEAD | tar -t; git gc -q; git fsck
    """, ("git",)),
    Work("git: a commit signed with an SSH key", "git", GIT + """
        ssh-keygen -q -t ed25519 -N '' -f key; echo "a@b.example $(cat key.pub)" > signers
        git init -q r; cd r; git -c gpg.format=ssh -c user.signingkey=../key commit -q -S --allow-empty -m signed
        git -c gpg.ssh.allowedSignersFile=../signers log --format='%G? %GS'
    """, ("git", "ssh-keygen")),
    Work("gpg: a key, a signature, a signed commit", "git", GIT + """
        export GNUPGHOME=$(mktemp -d)
        gpg -q --batch --passphrase '' --quick-gen-key a@b.example ed25519 sign 0
        echo text > t; gpg -q --batch --detach-sign t; gpg -q --verify t.sig t 2>&1 | grep -c 'Good signature'
        git init -q r; cd r; git commit -q -Sa@b.example --allow-empty -m s; git log --format=%G?; gpgconf --kill all
    """, ("git", "gpg")),
    Work("node: a server and its client", "JavaScript", """
        node -e '
          const s = require("http").createServer((q, r) => r.end("hello " + q.url)).listen(0, "localhost", async () => {
            const r = await fetch("http://localhost:" + s.address().port + "/a");
            console.log(await r.text()); s.close(); })'
    """, ("node",)),
    Work("node: worker threads, watching files, child processes", "JavaScript", """
        node -e '
          const { Worker } = require("worker_threads"), fs = require("fs"), cp = require("child_process");
          new Worker("require(\\"worker_threads\\").parentPort.postMessage(6 * 7)", { eval: true }).on("message", n => {
            console.log(n, cp.execFileSync("echo", ["child"]).toString().trim());
            const w = fs.watch(".", (e, name) => { if (name === "new") { console.log("seen", name); w.close(); } });
            setTimeout(() => fs.writeFileSync("new", "x"), 200); })'
    """, ("node",)),
    Work("node --inspect", "JavaScript", """
        node --inspect=127.0.0.1:0 -e '
          const u = require("inspector").url(); fetch(u.replace("ws:", "http:").replace(/[^/]*$/, "json/version"))
            .then(r => r.json()).then(j => console.log(Object.keys(j).sort().join()),
                  e => console.log(String(e)))' 2> said
        grep -c 'Debugger listening' said
    """, ("node",)),
    Work("npm: install a package of a directory, run a script", "JavaScript", """
        npm install --offline --no-audit --no-fund ./dep > /dev/null 2>&1; npm run -s go; ls node_modules
    """, ("npm",), {
        "package.json": '{"name": "app", "version": "1.0.0", "scripts": {"go": "node -p \\"require(\'dep\')\\""}}',
        "dep/package.json": '{"name": "dep", "version": "1.0.0", "main": "i.js"}',
        "dep/i.js": "module.exports = 'from dep';\n"}),
    Work("python: a virtual environment, pip installs a package of a directory", "Python", f"""
        {PYTHON} -m venv v; ./v/bin/pip install -q --no-index --no-build-isolation --disable-pip-version-check ./p
        ./v/bin/tool; ./v/bin/python -c 'import sys; print(sys.prefix != sys.base_prefix)'
    """, (PYTHON,), slow=True, files={
        "p/setup.py": "from setuptools import setup\nsetup(name='p', version='1', py_modules=['p'],\n"
                      "      entry_points={'console_scripts': ['tool=p:main']})\n",
        "p/p.py": "def main():\n    print('a tool')\n"}),
    Work("python: processes, shared memory, a manager", "Python", f"""
        {PYTHON} many.py
    """, (PYTHON,), {"many.py": text("""
        import concurrent.futures, multiprocessing, multiprocessing.shared_memory as shared
        def square(n): return n * n
        if __name__ == "__main__":
            with multiprocessing.Pool(2) as pool: print(pool.map(square, range(5)))
            with concurrent.futures.ProcessPoolExecutor(2) as pool: print(list(pool.map(square, range(3))))
            with multiprocessing.Manager() as manager: print(dict(manager.dict(a=1)))
            block = shared.SharedMemory(create=True, size=100 << 20)
            block.buf[-1] = 7; print(block.buf[-1]); block.close(); block.unlink()
            lock = multiprocessing.Lock(); print(lock.acquire(timeout=1))
    """)}),
    Work("python: asyncio over a Unix socket", "Python", f"""
        {PYTHON} -c '
        import asyncio
        async def main():
            async def serve(r, w): w.write(await r.readline()); await w.drain(); w.close()
            s = await asyncio.start_unix_server(serve, "sock"); r, w = await asyncio.open_unix_connection("sock")
            w.write(b"hello\\n"); print((await r.readline()).decode().strip()); w.close(); s.close()
        asyncio.run(main())'
    """, (PYTHON,)),
    Work("pytest, on several processes", "Python", f"""
        {PYTHON} -m pytest -q -p no:cacheprovider -n 2 t_test.py | grep -c '4 passed'
    """, (PYTHON,), {"t_test.py": text("""
        import pytest
        @pytest.mark.parametrize("n", range(4))
        def test(n, tmp_path): assert n < 4
    """)}),
    Work("Jupyter: a kernel runs a notebook", "Python", f"""
        jupyter nbconvert --log-level=ERROR --to notebook --execute --output done n.ipynb 2> said || cat said
        {PYTHON} -c 'import json; print(json.load(open("done.ipynb"))["cells"][0]["outputs"][0]["text"])'
    """, ("jupyter-nbconvert", "/usr/share/jupyter/kernels/python3"), {"n.ipynb": (
        '{"cells": [{"cell_type": "code", "execution_count": null, "id": "a", "metadata": {}, "outputs": [], "source": '
        '"print(6 * 7)"}], "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", '
        '"name": "python3"}}, "nbformat": 4, "nbformat_minor": 5}')},
        slow=True, debian="jupyter-nbconvert python3-ipykernel"),
    Work("sqlite: a database in WAL mode, two processes", "databases", f"""
        {PYTHON} -c '
        import sqlite3, subprocess, sys
        d = sqlite3.connect("d"); print(d.execute("pragma journal_mode=wal").fetchone()[0])
        d.execute("create table t(n)")
        d.execute("insert into t values(1)"); d.commit()
        add = "import sqlite3; d = sqlite3.connect(\\"d\\"); d.execute(\\"insert into t values(2)\\"); d.commit()"
        subprocess.run([sys.executable, "-c", add], check=True)
        print(d.execute("select sum(n) from t").fetchone()[0])'
    """, (PYTHON,)),
    Work("PostgreSQL: a cluster, a server, a query", "databases", """
        bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1); $bin/initdb -D d -A trust -N > /dev/null
        $bin/pg_ctl -D d -o "-k $PWD -h ''" -w -l log start > /dev/null
        psql -qAt -h $PWD -d postgres -c 'create table t(n int); insert into t select generate_series(1, 100)' \\
          -c 'select sum(n) from t'
        $bin/pg_ctl -D d -w -m fast stop > /dev/null
    """, ("psql", "/usr/lib/postgresql"), ordinary=True, slow=True),
    Work("make", "compilers", "make -s -j2; ./a", ("make", "gcc"), {
        "Makefile": "a: a.c\n\tgcc -O1 -o $@ $<\n", "a.c": '#include <stdio.h>\nint main() { puts("made"); }\n'}),
    Work("cmake and ninja, with tests", "compilers", """
        cmake -S . -B b -G Ninja > /dev/null; cmake --build b > /dev/null; ctest --test-dir b 2>&1 | grep 'tests passed'
    """, ("cmake", "ninja", "g++"), {
        "CMakeLists.txt": "cmake_minimum_required(VERSION 3.20)\nproject(p CXX)\nenable_testing()\n"
                          "add_executable(a a.cc)\nadd_test(NAME a COMMAND a)\n",
        "a.cc": "#include <vector>\nint main() { return std::vector<int>(3).size() - 3; }\n"}),
    Work("ccache", "compilers", """
        export CCACHE_DIR=$PWD/c; for i in 1 2; do ccache gcc -c a.c -o a$i.o; done; cmp a1.o a2.o
        ccache -s | grep -c Hits
    """, ("ccache", "gcc"), {"a.c": "int a;\n"}),
    Work("gdb: a breakpoint and a back trace", "debuggers", """
        gcc -g -O0 -o a a.c; gdb -q -batch -ex 'break f' -ex run -ex bt ./a 2>&1 | grep -o 'f (n=3) at a.c:1'
    """, ("gdb", "gcc"), {"a.c": "int f(int n) { return n; }\nint main() { return f(3) - 3; }\n"}),
    Work("strace", "debuggers", "strace -f -e trace=openat -o s sh -c 'cat a'; grep -c '\"a\"' s", ("strace",),
         {"a": "text\n"}),
    Work("valgrind", "debuggers", """
        gcc -g -o a a.c; valgrind -q --error-exitcode=3 ./a 2> said || echo code $?; grep -c 'Invalid write' said
    """, ("valgrind", "gcc"), {"a.c": "#include <stdlib.h>\nint main() { char *p = malloc(4); p[4] = 1; free(p); }\n"}),
    Work("AddressSanitizer and leaks", "debuggers", """
        g++ -g -fsanitize=address -o a a.cc; ./a 2> said || echo code $?; grep -o 'detected memory leaks' said
    """, ("g++",), {"a.cc": "int main() { int *volatile p = new int(1); p = nullptr; return p != nullptr; }\n"}),
    Work("ThreadSanitizer", "debuggers", """
        g++ -g -O1 -fsanitize=thread -o a a.cc -pthread; ./a 2> said || echo code $?; grep -o 'data race' said | head -1
    """, ("g++",), {"a.cc": "#include <thread>\nint n;\nint main() { std::thread a([] { ++n; }); ++n; a.join(); }\n"}),
    Work("javac and java", "compilers", "javac A.java; java -XX:+UseSerialGC A", ("javac", "java"), {
        "A.java": 'class A { public static void main(String[] a) throws Exception { System.out.println('
                  'java.net.InetAddress.getLoopbackAddress().getHostAddress() + '
                  'new java.io.File("A.java").canWrite()); } }\n'}),
    Work("gfortran", "compilers", "gfortran -o a a.f90; ./a", ("gfortran",),
         {"a.f90": "program a\n print '(a)', 'fortran'\nend program\n"}),
    Work("perl with a module of the project", "scripts", "perl -I. -MM -e 'print M::f(), \"\\n\"'", ("perl",),
         {"M.pm": "package M; sub f { 'perl' } 1;\n"}),
    Work("shell: jobs, pipes, here-documents, traps", "scripts", """
        sleep 0.1 & wait $!; echo $?; seq 100000 | sort -rn | tail -1; cat <<END
        words
        END
        sh -c 'trap "echo ended" TERM; kill $$; sleep 0.1'; (ulimit -n 64; ulimit -n); mkfifo p; echo in > p & cat p
    """),
    Work("3,000 files: made, found, packed, removed", "files", """
        mkdir t; cd t; seq 3000 | xargs touch; find . -type f | wc -l; cd ..; tar -cf t.tar t; rm -r t; tar -xf t.tar
        ls t | wc -l; rm -rf t t.tar
    """),
    Work("names that are not text, links, modes, times", "files", """
        n=$(printf 'a\\377b'); echo x > "$n"; ls | od -c | head -1; ln "$n" hard; ln -s hard soft; cat soft
        chmod 640 hard; touch -d 2001-02-03T04:05:06Z hard; stat -c '%a %h %Y' hard
        truncate -s 1G big; du -k big | cut -f1
    """),
    Work("tar keeps modes, times and links", "files", """
        mkdir d; echo x > d/a; chmod 751 d/a; ln -s a d/b; touch -h -d @1000000000 d/a d/b
        tar -C d -cf - . | (mkdir e; tar -C e -xpf -)
        stat -c '%n %a %Y %F' e/a e/b
    """),
    Work("zip, xz and zstd", "files", """
        echo text > a; zip -q a.zip a; xz -k a; zstd -q a; rm a; unzip -p a.zip; xzcat a.xz; zstdcat -q a.zst
    """, ("zip", "unzip", "xz", "zstd")),
    Work("patch and diff", "files", "diff -u a b > p || true; patch -s a p; cmp a b && echo same", ("patch",),
         {"a": "1\n2\n", "b": "1\n3\n"}),
    Work("file locks of two processes", "files", """
        exec 9> l; flock 9; flock -n l echo mine || echo held; flock -u 9; flock -n l echo mine
    """, ("flock",)),
    Work("tmux: a session in the background", "terminals", """
        export TMUX_TMPDIR=$(mktemp -d)
        tmux -f /dev/null new-session -d -x 80 -y 24 'echo in tmux; exec sleep 30'
        until tmux capture-pane -p | grep 'in tmux'; do sleep 0.1; done; tmux kill-server
    """, ("tmux",)),
    Work("script: a terminal of its own", "terminals",
         "script -qec 'test -t 0 && tty | cut -c1-8' /dev/null | tr -d '\\r'", ("script",)),
    Work("vim in batch mode", "terminals", "vim -u NONE -es -c '%s/a/b/' -c wq f; cat f", ("vim",), {"f": "a\n"}),
    Work("top, ps and lsof", "terminals", """
        top -bn1 | grep -c Tasks; ps -e -o comm= | sort -u | grep -c '^sh$'
        sleep 20 < f > /dev/null &
        until lsof -p $! -a -d 0 -Fn | grep -o '/f$'; do sleep 0.1; done; kill $!
    """, ("top", "ps", "lsof"), {"f": ""}),
    Work("fakeroot and a Debian package", "packages", """
        mkdir -p p/DEBIAN p/usr/share/p; cp control p/DEBIAN/; echo x > p/usr/share/p/x; chmod 755 p/DEBIAN
        fakeroot sh -c 'chown -R 0:0 p && dpkg-deb -b p p.deb' > /dev/null
        dpkg-deb --fsys-tarfile p.deb | tar --numeric-owner -tv | cut -c1-14
    """, ("fakeroot", "dpkg-deb"), {
        "control": "Package: p\nVersion: 1\nArchitecture: all\nMaintainer: A <a@b.example>\nDescription: d\n"}),
    Work("a program without an environment", "scripts",
         "env -i /bin/sh -c 'pwd | grep -o project; id -u > /dev/null && echo ok'"),
    Work("docker without its socket", "refused", "docker ps", ("docker",), refused="docker"),
    Work("sudo", "refused", "sudo -n true", ("sudo",), refused="sudo", note="no program gives rights"),
    Work("a namespace of its own", "refused", "unshare -Ur true", ("unshare",), refused="unshare"),
]

WORKS += works_git.WORKS + works_servers.WORKS + works_builds.WORKS + works_web.WORKS + works_settings.WORKS
