# The table of developers' work: tools of the web, which come from npm's registry.
from work import Work, text

PACKAGES = ("pnpm@9", "yarn@1", "vite@5", "vitest@2", "ws@8", "playwright-core@1")
WORKSPACE = {
    "package.json": '{"name": "all", "version": "1.0.0", "private": true, "workspaces": ["a", "b"]}',
    "pnpm-workspace.yaml": "packages: [a, b]\n",
    "a/package.json": '{"name": "a", "version": "1.0.0", "scripts": {"go": "node i.js"}, "dependencies": {"b": "%s"}}',
    "a/i.js": "console.log(require('b'));\n",
    "b/package.json": '{"name": "b", "version": "1.0.0", "main": "i.js"}',
    "b/i.js": "module.exports = 'from b';\n"}


def workspace(version):
    return {**WORKSPACE, "a/package.json": WORKSPACE["a/package.json"] % version}


WORKS = [
    Work("pnpm: a workspace of two packages", "JavaScript", """
        pnpm() { node $NPM/pnpm/bin/pnpm.cjs "$@"; }
        pnpm install --offline --store-dir store > log; pnpm -s --filter a run go
        pnpm -r exec pwd | sed 's/.*project//'
        readlink a/node_modules/b
    """, ("node", "npm"), workspace("workspace:*"), npm=PACKAGES, slow=True),
    Work("yarn: a workspace of two packages", "JavaScript", """
        yarn() { node $NPM/yarn/bin/yarn.js -s --offline --cache-folder cache "$@"; }
        yarn install > log 2>&1; (cd a; yarn run go); readlink node_modules/b
    """, ("node", "npm"), workspace("1.0.0"), npm=PACKAGES, slow=True),
    Work("vitest: tests in several processes", "JavaScript", """
        ln -s $NPM node_modules; NO_COLOR=1 node $NPM/vitest/vitest.mjs run --pool=forks > log 2>&1
        grep -Eo '(Test Files|Tests) .*passed' log | tr -s ' '
    """, ("node", "npm"), {
        "vite.config.mjs": "export default { cacheDir: 'cache' };\n",
        "twice.ts": "export const twice = (n: number): number => 2 * n;\n",
        **{f"{name}.test.ts": "import { expect, test } from 'vitest';\nimport { twice } from './twice';\n"
                              f"test('{name}', () => expect(twice(21)).toBe(42));\n" for name in ("one", "other")}},
         npm=PACKAGES, slow=True),
    Work("vite: a server for development, modules are replaced", "JavaScript", """
        ln -s $NPM node_modules; node serve.mjs
    """, ("node", "npm"), {
        "index.html": "<script type=module src=/main.ts></script>\n",
        "main.ts": "import { word } from './word';\nconsole.log(word as string);\n",
        "word.ts": "export const word: string = 'first';\nimport.meta.hot!.accept();\n",
        "serve.mjs": text("""
            import fs from 'node:fs';
            import { createServer } from 'vite';
            import WebSocket from 'ws';
            const server = await createServer({ configFile: false, cacheDir: 'cache', logLevel: 'error',
                                                server: { host: '127.0.0.1', port: $PORT, strictPort: true } });
            await server.listen();
            const get = async (path) => (await fetch('http://127.0.0.1:$PORT' + path)).text();
            console.log((await get('/')).includes('/@vite/client'), (await get('/main.ts')).includes('as string'));
            console.log((await get('/word.ts')).includes('first'));
            const token = server.config.webSocketToken;
            const socket = new WebSocket('ws://127.0.0.1:$PORT/' + (token ? '?token=' + token : ''), 'vite-hmr');
            socket.on('message', async (data) => {
              const message = JSON.parse(data);
              if (message.type === 'connected')
                fs.writeFileSync('word.ts', fs.readFileSync('word.ts', 'utf8').replace('first', 'second'));
              if (message.type !== 'update') return;
              console.log(message.updates[0].path, (await get('/word.ts?t=1')).includes('second'));
              await server.close();
              process.exit(0);
            });
        """)}, npm=PACKAGES, slow=True),
    Work("playwright: a page in Debian's chromium", "JavaScript", "ln -s $NPM node_modules; node page.mjs",
         ("node", "npm", "/usr/bin/chromium-headless-shell"), {"page.mjs": text("""
            import http from 'node:http';
            import { chromium } from 'playwright-core';
            const page = '<title>a page</title><p id=p></p><script>fetch("/data").then(r => r.text())' +
                         '.then(t => document.getElementById("p").textContent = t)</script>';
            const server = http.createServer((q, r) => {
              r.setHeader('Content-Type', 'text/html');
              r.end(q.url === '/data' ? 'fetched' : page);
            });
            await new Promise((done) => server.listen(0, '127.0.0.1', done));
            const browser = await chromium.launch({ executablePath: '/usr/bin/chromium-headless-shell',
                                                    args: ['--no-sandbox'] });
            const tab = await browser.newPage();
            await tab.goto('http://127.0.0.1:' + server.address().port);
            await tab.getByText('fetched').waitFor();
            console.log(await tab.title(), (await tab.screenshot()).length > 1000);
            await browser.close();
            server.close();
         """)}, npm=PACKAGES, slow=True, note="without chromium's own sandbox, which hutch does not need"),
]
