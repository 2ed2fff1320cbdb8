# The table of developers' work: servers, their clients, and what watches or copies files.
from work import PYTHON, Work, text

MODULES = "/usr/lib/python3/dist-packages"
SERVER = text("""
    import http.server, json, threading
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        def do_GET(self): self.answer({"path": self.path, "cookie": self.headers.get("Cookie", "")})
        def do_POST(self): self.answer({"got": self.rfile.read(int(self.headers["Content-Length"])).decode()})
        def answer(self, value):
            body = json.dumps(value).encode()
            self.send_response(302 if self.path == "/moved" else 200)
            if self.path == "/moved": self.send_header("Location", "/there")
            self.send_header("Set-Cookie", "a=b"); self.send_header("Content-Length", str(len(body)))
            self.end_headers(); self.wfile.write(body)
        def log_message(self, *_): pass
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://localhost:{server.server_port}"
""")

WORKS = [
    Work("python: requests and a server on the loopback", "Python", f"{PYTHON} client.py", (f"{MODULES}/requests",), {
        "server.py": SERVER, "client.py": text("""
            import requests, server
            with requests.Session() as session:
                print(session.get(server.url + "/moved").json())
                print(session.post(server.url, data="x" * 5).json(), session.cookies.get_dict())
            try: requests.get("http://localhost:9", timeout=2)
            except requests.ConnectionError: print("refused")
        """)}),
    Work("python: httpx with asyncio and a server on the loopback", "Python", f"{PYTHON} client.py",
         (f"{MODULES}/httpx",), {
        "server.py": SERVER, "client.py": text("""
            import asyncio, httpx, server
            async def main():
                async with httpx.AsyncClient(base_url=server.url, follow_redirects=True) as client:
                    print((await client.get("/moved")).json())
                    print(sum([len((await one).json()["path"]) for one in [client.get(f"/{n}") for n in range(20)]]))
                    print((await client.post("/", content=b"y" * 100000)).json()["got"] == "y" * 100000)
            asyncio.run(main())
        """)}),
    Work("redis: a server by TCP and a Unix socket, saved and loaded", "databases", """
        start() { redis-server --port $PORT --bind 127.0.0.1 --unixsocket $PWD/s --dir $PWD --daemonize yes > log; }
        ask() { redis-cli -s $PWD/s "$@"; }
        start; until ask ping 2> said | grep -q PONG; do sleep 0.05; done
        redis-cli -p $PORT set a 1; ask incr a; ask lpush l 1 2 3; ask shutdown save
        while [ -e s ]; do sleep 0.05; done
        start; until ask get a 2> said | grep -q 2; do sleep 0.05; done; ask lrange l 0 -1; ask shutdown nosave
    """, ("redis-server", "redis-cli"), debian="redis-server"),
    Work("nginx: files, a proxy to another server", "servers", """
        nginx() { /usr/sbin/nginx -p $PWD -c nginx.conf -e error.log "$@" 2> said; }
        nginx; for f in f proxied/f; do curl -s http://127.0.0.1:$PORT/$f; done
        curl -s -o /dev/null -w '%{http_code}\\n' http://127.0.0.1:$PORT/none; nginx -s stop
    """, ("/usr/sbin/nginx", "curl"), {
        "www/f": "a file\n", "up/f": "from another server\n", "nginx.conf": text("""
            pid nginx.pid; error_log error.log; events {}
            http {
              access_log off; client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4;
              scgi_temp_path t5;
              server { listen 127.0.0.1:$PORT; root www; location /proxied/ { proxy_pass http://unix:up.sock:/; } }
              server { listen unix:up.sock; root up; }
            }
        """)}, ordinary=True, debian="nginx-light"),
    Work("less: a page, a search", "terminals", "seq 1000 > f; expect -f x > out && echo seen",
         ("less", "expect"), {
        "x": text("""
            set timeout 20
            set stty_init "rows 20 columns 80"
            set env(TERM) xterm
            proc see {what} { expect $what {} timeout { exit 3 } eof { exit 4 } }
            spawn less f
            see "19"
            send "/^777\\r"
            see "795"
            send "q"
            expect eof
            exit [lindex [wait] 3]
        """)}),
    Work("htop: on a terminal, until q", "terminals", """
        TERM=xterm script -qec 'stty rows 30 cols 100; htop' out < keys > /dev/null
        grep -q Load out; echo seen
    """, ("htop", "script"), {"keys": "q"}),
    Work("expect: answers to a program that asks", "terminals", "expect -f x | tr -d '\\r' | tail -2", ("expect",), {
        "ask": "stty -echo; printf 'name? '; read n; stty echo; echo; echo hello $n\n",
        "x": 'set timeout 10\nspawn sh ask\nexpect "name? "\nsend "me\\r"\nexpect "hello me"\nexpect eof\n'
             'puts "code [lindex [wait] 3]"\n'}),
    Work("inotifywait: changes of a tree", "files", """
        mkdir -p d/e; inotifywait -q -m -r --format '%w%f %e' -e create,close_write,moved_to,delete d > seen 2> said &
        until echo > d/first; grep -q first seen; do sleep 0.05; done; echo > d/e/a; mv d/e/a d/b; rm d/b; echo > d/last
        until grep -q 'last CLOSE' seen; do sleep 0.05; done; kill $!; grep -v first seen
    """, ("inotifywait",)),
    Work("a watcher of 10,000 files in 1,000 directories", "files", f"""
        {PYTHON} -c '
        import os
        for d in range(1000):
            os.makedirs(f"t/{{d}}")
            for f in range(10): open(f"t/{{d}}/{{f}}", "w").close()'
        : > said; inotifywait -m -r -e close_write,create --format '%w%f %e' t > seen 2> said &
        until grep -q established said; do sleep 0.05; done
        echo x > t/0/0; echo x > t/999/9; echo x > t/500/new; until grep -q 'new CLOSE' seen; do sleep 0.05; done
        kill $!; cat seen
    """, ("inotifywait", PYTHON), slow=True),
    Work("rsync: a tree, again after a change, with --delete", "files", """
        mkdir -p a/d; for i in 1 2 3; do echo $i > a/d/$i; done; ln -s d/1 a/l; ln a/d/2 a/hard; chmod 640 a/d/3
        rsync -aH a/ b/; rm a/d/1; echo more >> a/d/3; touch -d 2001-02-03 a/d/2
        rsync -aHi --delete a/ b/ | grep -v '^.d' | cut -c1-2,13- | LC_ALL=C sort
        diff -r --no-dereference a b; stat -c '%n %h %a' b/hard b/d/3
    """, ("rsync",)),
    Work("extended attributes, kept by cp, tar and rsync", "files", """
        echo x > a; setfattr -n user.k -v value a; cp -a a b; tar --xattrs -cf t.tar a; mkdir d
        tar --xattrs -C d -xf t.tar; rsync -aX a c; for f in b c d/a; do getfattr --only-values -n user.k $f; echo; done
    """, ("setfattr", "tar", "rsync")),
    Work("perf stat", "refused", "perf stat true", ("perf",), refused="No permission", debian="linux-perf",
         note="the filter refuses `perf_event_open(2)`"),
]
