# What a person sees of a build: one line that is drawn again on a terminal, a line now and then elsewhere.
"""Nothing at all where nothing is built."""

import re
import sys
import time

LINE_EVERY_SECONDS = 20
# An estimate from less than this says more about the first steps than about the rest.
ESTIMATE_AFTER_SECONDS = 5
FAILURE_LINES = 120
# The command of a failed step is one line of several thousand columns, which nobody reads.
COLUMNS = 400

# ninja's words for a step, and ours. A step that is none of these is not shown.
KINDS = [(re.compile(r"Building \w+ object"), "compiling"), (re.compile(r"Linking"), "linking"),
         (re.compile(r"Generating|Re-running CMake"), "preparing")]
GREY, PLAIN = "\x1b[2m", "\x1b[0m"


def estimate(seconds, done, total):
    """How long the rest takes, in words: at the pace of what is done."""
    if seconds < ESTIMATE_AFTER_SECONDS or not done:
        return ""
    left = seconds * (total - done) / done
    if left < 60:
        return ", less than a minute left"
    return f", about {round(left / 60)} min left"


class Progress:
    """Takes what ninja prints, step by step, and says what goes on."""

    def __init__(self, preset, verbose, stream=sys.stderr, now=time.monotonic):
        self.preset, self.verbose, self.stream, self.now = preset, verbose, stream, now
        self.terminal = stream.isatty()
        self.began, self.said, self.drawn = now(), None, False
        self.kept, self.failed = [], False

    def step(self, done, total, what):
        if self.verbose:
            self.write(f"[{done}/{total}] {what}\n")
            return
        if not self.failed:
            self.kept = []
        kind = next((word for pattern, word in KINDS if pattern.match(what)), None)
        if kind:
            self.show(f"build/{self.preset}: {kind} {done}/{total}"
                      + estimate(self.now() - self.began, done, total))

    def output(self, line):
        """Of a command that failed this begins with FAILED; else it is kept until the next step."""
        text = line.decode(errors="replace")
        if self.verbose:
            self.write(text)
            return
        self.failed = self.failed or text.startswith("FAILED: ")
        if len(self.kept) < FAILURE_LINES and len(text) <= COLUMNS:
            self.kept.append(text)

    def show(self, text):
        if self.terminal:
            self.write(f"\r\x1b[K{GREY}{text}{PLAIN}")
            self.drawn = True
        elif self.said is None or self.now() - self.said >= LINE_EVERY_SECONDS:
            self.write(f"dev: {text}\n")
            self.said = self.now()

    def end(self):
        if self.drawn:
            self.write("\r\x1b[K")
        self.drawn = False

    def show_failure(self):
        if not self.verbose:
            self.write("".join(self.kept))

    def write(self, text):
        self.stream.write(text)
        self.stream.flush()
