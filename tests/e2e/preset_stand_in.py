# Does what a coding agent does when it starts: its directories, locks, databases and records; git; npm; its sign-in.
"""preset_stand_in.py NAME: run in the agent's place by tests/e2e/preset_start_test.py. A failure is an exception."""

import fcntl
import json
import os
import pathlib
import sqlite3
import subprocess
import sys

HOME = pathlib.Path.home()


def lock(path):
    """As by proper-lockfile (a directory), and by flock(2)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(path.name + ".lock")
    beside.mkdir()
    beside.rmdir()
    file = open(path, "a+", encoding="utf-8")
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return file


def replace(path, text):
    """Whole or not at all, as settings and sessions are written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    made = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    made.write_text(text)
    os.fsync(os.open(made, os.O_RDONLY))
    made.rename(path)
    assert path.read_text() == text


def database(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(path) as kept:
        assert kept.execute("PRAGMA journal_mode=WAL").fetchone() == ("wal",)
        kept.execute("CREATE TABLE IF NOT EXISTS sessions (id INTEGER PRIMARY KEY, text TEXT)")
        kept.execute("INSERT INTO sessions (text) VALUES ('begun')")
    kept.close()


def record(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps({"type": "start"}) + "\n")


def sign_in(path, renews=True):
    """Reads what it was given; `renews`: writes it anew, in its place."""
    text = path.read_text()
    if renews:
        path.write_text(text)


def run(*words):
    # npm asks its registry now and then whether there is a newer npm.
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
                          env={**os.environ, "npm_config_update_notifier": "false"})
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


def git():
    """What each of them asks of a repository, and a commit."""
    assert run("git", "rev-parse", "--show-toplevel").strip() == os.getcwd()
    run("git", "status", "--porcelain", "--untracked-files=all")
    run("git", "branch", "--show-current")
    with open("by-agent.txt", "a", encoding="utf-8") as file:
        file.write("made\n")
    run("git", "add", "by-agent.txt")
    run("git", "-c", "user.name=agent", "-c", "user.email=agent@example.org", "commit", "-qm", "by the agent")
    run("git", "diff", "HEAD~1", "--stat")
    return run("git", "config", "--global", "--get", "user.name").strip()


def npm():
    run("npm", "--version")
    run("npm", "pkg", "get", "name")
    run("npm", "install", "--offline", "--no-audit", "--no-fund", "./local-package")
    assert pathlib.Path("node_modules/local-package/package.json").exists()


def qwen():
    own = HOME / ".qwen"
    sign_in(own / "oauth_creds.json")
    replace(own / "installation_id", "0-1")
    held = lock(own / "oauth_creds.lock")
    record(own / "projects/-project/chats/1.jsonl")
    record(own / "tmp/1/logs.json")
    record(own / "debug/1.txt")
    return held


def copilot():
    own = HOME / ".copilot"
    sign_in(own / "config.json", renews=False)
    record(own / "logs/process-1.log")
    record(own / "session-state/1/events.jsonl")
    replace(own / "command-history-state.json", "{}")
    database(own / "session-store.db")
    return lock(own / "session-state/1/inuse.1")


def cursor_agent():
    sign_in(HOME / ".config/cursor/auth.json")
    assert (HOME / ".local/share/cursor-agent/versions/1/package.json").read_text() == "{}"
    database(HOME / ".cursor/chats/1/2/store.db")
    record(HOME / ".cursor/projects/-project/worker.log")
    return lock(HOME / ".cursor/projects/-project/worker.pid")


def aider():
    own = HOME / ".aider"
    sign_in(own / "oauth-keys.env", renews=False)
    replace(own / "analytics.json", "{}")
    replace(own / "caches/model_prices_and_context_window.json", "{}")
    replace(own / "installs.json", "{}")
    record(pathlib.Path(".aider.chat.history.md"))
    record(pathlib.Path(".aider.input.history"))
    database(pathlib.Path(".aider.tags.cache.v4/cache.db"))
    with open(".gitignore", "a", encoding="utf-8") as ignored:
        ignored.write(".aider*\n")
    return None


def goose():
    sign_in(HOME / ".config/goose/secrets.yaml", renews=False)
    assert (HOME / ".config/goose/config.yaml").read_text() == "GOOSE_MODEL: x\n"
    database(HOME / ".local/share/goose/sessions/sessions.db")
    record(HOME / ".local/state/goose/logs/cli/1/1.log")
    replace(HOME / ".local/share/goose/history.txt", "")
    return lock(HOME / ".local/state/goose/lock")


STARTS = {"qwen": qwen, "copilot": copilot, "cursor-agent": cursor_agent, "aider": aider, "goose": goose}


def reads(path):
    try:
        return path.read_text()
    except OSError:
        return "hidden"


def main(name):
    held = STARTS[name]()
    said = {"name": git(), "uid": os.getuid(), "term": os.environ.get("TERM")}
    npm()
    said["secret"] = [reads(HOME / one) for one in ("secret", ".ssh/id_ed25519", ".bash_history", ".npmrc")]
    print(json.dumps(said))
    if held is not None:
        held.close()


if __name__ == "__main__":
    main(sys.argv[1])
