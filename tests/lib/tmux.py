# A real terminal around a program, by tmux: what is on its screen, and keys as a person types them.
"""Tmux(base, person, cwd) is a screen with a shell in it; use as a context manager."""

import itertools

import harness

NUMBERS = itertools.count(1)


class Tmux:
    def __init__(self, base, person, cwd, env=None, columns=80, rows=24):
        self.person, self.env = person, env or {}
        # The name of a socket has 107 bytes (unix(7)): no test's own directory.
        top = base.path / "tmux"
        if not top.exists():
            top.mkdir()
            top.chmod(0o755)
        self.socket = person.mkdir(top / str(next(NUMBERS))) / "sock"
        size = ["-x", str(columns), "-y", str(rows)]
        self.tmux("new-session", "-d", "-s", "s", *size, "-c", str(cwd), "echo READY; exec /bin/sh")
        self.wait_for("READY")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        harness.run_in(self.person, ["tmux", "-S", self.socket, "kill-server"], env=self.env)

    def tmux(self, *words):
        argv = ["tmux", "-u", "-S", self.socket, "-f", "/dev/null", *words]
        return harness.run_in(self.person, argv, env=self.env).ok().text

    def screen(self):
        return self.tmux("capture-pane", "-p", "-t", "s")

    def keys(self, *names):
        """Keys by tmux's names ("Enter", "C-c"); other words are typed letter by letter."""
        for name in names:
            self.tmux("send-keys", "-t", "s", name)

    def text(self, text):
        """Bytes as they are, escape sequences too."""
        self.tmux("send-keys", "-t", "s", "-l", text)

    def paste(self, text):
        """As a terminal pastes: between the marks that the program asked for, if it did."""
        self.tmux("set-buffer", "-b", "b", text)
        self.tmux("paste-buffer", "-p", "-r", "-b", "b", "-t", "s")

    def resize(self, columns, rows):
        self.tmux("resize-window", "-t", "s", "-x", str(columns), "-y", str(rows))

    def wait_for(self, *texts, gone=()):
        """The screen, once all of these are on it and none of `gone` is."""
        last = ""

        def there():
            nonlocal last
            last = self.screen()
            return all(text in last for text in texts) and not any(text in last for text in gone)

        try:
            harness.wait_until(there, f"{texts} on the screen")
        except AssertionError as error:
            raise AssertionError(f"{error}; the screen:\n{last}") from None
        return last

    def state(self, *names):
        """tmux's own variables of the pane: "alternate_on", "cursor_flag"."""
        form = " ".join(f"#{{{name}}}" for name in names)
        return self.tmux("display-message", "-p", "-t", "s", form).split()
