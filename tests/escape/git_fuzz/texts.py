# What a sandbox writes for git to obey: settings, hooks, links to repositories, prepared operations.
"""Each text that would make git run something, or read settings from a new file, has the word "trip" in it."""

HOOKS = (
    "applypatch-msg", "commit-msg", "fsmonitor-watchman", "post-applypatch", "post-checkout", "post-commit",
    "post-index-change", "post-merge", "post-receive", "post-rewrite", "post-update", "pre-applypatch", "pre-auto-gc",
    "pre-commit", "pre-merge-commit", "pre-push", "pre-rebase", "pre-receive", "prepare-commit-msg", "proc-receive",
    "push-to-checkout", "reference-transaction", "update")
# The first ones need no further condition to be obeyed by an ordinary command.
COMMON_HOOKS = ("reference-transaction", "post-index-change", "post-checkout", "pre-commit")

# (section, key, value); TRIP is the program.
SETTINGS = (
    ("core", "fsmonitor", "TRIP"), ("core", "hooksPath", "trip-hooks"), ("core", "sshCommand", "TRIP"),
    ("core", "pager", "TRIP"), ("core", "editor", "TRIP"), ("core", "askPass", "TRIP"), ("core", "gitProxy", "TRIP"),
    ("core", "attributesFile", "trip-attributes"), ("core", "excludesFile", "trip-excludes"),
    ("core", "worktree", "../trip-tree"), ("core", "alternateRefsCommand", "TRIP"), ("diff", "external", "TRIP"),
    ('diff "d"', "command", "TRIP"), ('diff "d"', "textconv", "TRIP"), ('filter "f"', "clean", "TRIP"),
    ('filter "f"', "smudge", "TRIP"), ('filter "f"', "process", "TRIP"), ('merge "m"', "driver", "TRIP"),
    ("gpg", "program", "TRIP"), ('gpg "ssh"', "program", "TRIP"), ("credential", "helper", "!TRIP"),
    ("alias", "st", "!TRIP"), ("include", "path", "../trip-config"),
    ('includeIf "gitdir:/**"', "path", "../trip-config"),
    ('includeIf "onbranch:**"', "path", "trip-config"), ('url "ext::TRIP "', "insteadOf", "/"),
    ('remote "origin"', "url", "ext::TRIP"), ('remote "origin"', "uploadpack", "TRIP"),
    ('remote "origin"', "receivepack", "TRIP"), ('remote "origin"', "vcs", "trip"),
    ('remote "origin"', "proxy", "trip"),
    ('branch "main"', "remote", "ext::TRIP"), ('branch "main"', "mergeOptions", "--strategy=trip"),
    ("extensions", "partialClone", "ext::TRIP"), ("uploadpack", "packObjectsHook", "TRIP"),
    ("sequence", "editor", "TRIP"), ("interactive", "diffFilter", "TRIP"), ('submodule "sub"', "update", "!TRIP"),
    ('submodule "sub"', "url", "ext::TRIP"), ("pager", "log", "TRIP"), ("pager", "status", "TRIP"),
    ('trailer "t"', "cmd", "TRIP"), ('trailer "t"', "command", "TRIP"), ('tar "t"', "command", "TRIP"),
    ('mergetool "x"', "cmd", "TRIP"), ('difftool "x"', "cmd", "TRIP"), ("gc", "recentObjectsHook", "TRIP"),
    ('hook "h"', "command", "TRIP"), ("init", "templateDir", "trip-template"), ("mailmap", "file", "trip-map"),
    ("commit", "template", "trip-template"), ("pull", "twohead", "trip"), ("http", "proxy", "trip"),
    ("user", "signingKey", "trip-key"), ("gpg", "defaultKeyCommand", "TRIP"), ("safe", "directory", "trip"),
    ("blame", "ignoreRevsFile", "trip-revs"), ("diff", "orderFile", "trip-order"), ("sendemail", "smtpServer", "TRIP"))
HARMLESS = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"


class Texts:
    """The vocabulary with the program's path filled in; `rng` chooses."""

    def __init__(self, trip, rng):
        self.trip, self.rng = trip, rng

    def hook(self, label="hook"):
        line = self.rng.choice(["#!/bin/sh\nTRIP L\n", "#! /bin/sh -e\n\n. TRIP L\n", "#!/usr/bin/env -S sh TRIP\n"])
        return line.replace("TRIP", self.trip).replace("L", label)

    def setting(self):
        section, key, value = self.rng.choice(SETTINGS)
        return section.replace("TRIP", self.trip), key, value.replace("TRIP", self.trip)

    def setting_text(self):
        """One setting, in one of the forms that git's parser takes."""
        section, key, value = self.setting()
        half = len(value) // 2
        name = section.split('"')
        form = self.rng.randrange(14)
        return {
            1: f"[{section}]{key}={value}\n", 2: f"[{section}] {key} = \"{value}\"\n",
            3: f"[{section}]\n\t{key} = {value[:half]}\\\n{value[half:]}\n",
            4: f"[{section.upper() if len(name) == 1 else section}]\n{key.upper()}={value} ; x\n",
            5: f"\ufeff[{section}]\r\n\t{key} = {value}\r\n", 6: f"[{section}]\n{key} = {value}# x",
            7: f"# x\\\n[{section}]\n\t{key}\n\t{key} = {value}\n", 8: f"[x] y = \"\n[{section}]\n{key} = {value}\n",
            9: f"[{name[0].strip()}.{name[1]}]\n{key} = {value}\n" if len(name) > 1 else f"[{section}]\n{key}={value}",
            10: f"[user]name=x[{section}]{key}={value}\n", 11: f"[{section}]\n\x0b{key}\t=\t{value}\t\n",
        }.get(form, f"[{section}]\n\t{key} = {value}\n")

    def config(self, worktree=""):
        parts = [HARMLESS, self.setting_text()] if self.rng.random() < 0.85 else [self.setting_text()]
        if self.rng.random() < 0.5:
            parts.append(f"[core]\n\tfsmonitor = {self.trip}\n")
        if worktree:
            parts.append(f"[core]\n\tworktree = {worktree}\n")
        if self.rng.random() < 0.2:
            self.rng.shuffle(parts)
        return "".join(parts)

    def included(self):
        """A whole configuration that a repository's own may include."""
        return self.setting_text() + f"[core]\n\tfsmonitor = {self.trip}\n"

    def link(self, target):
        form = self.rng.randrange(9)
        return {1: f"gitdir: {target}", 2: f"gitdir: {target}\r\n\n", 3: f"gitdir: {target}/\n",
                4: f"gitdir: ./{target}\n", 5: f"gitdir: {target}\0x\n",
                6: f"gitdir: {target.replace('/', '//')}\n", 7: f"gitdir: x/../{target}\n",
                }.get(form, f"gitdir: {target}\n")

    def todo(self, commit):
        word = self.rng.choice(["exec", "x", "exec", " exec", "\texec", "exec\t"])
        line = f"{word} {self.trip} todo\n"
        return self.rng.choice(["", f"pick {commit}\n", "noop\n", "# x\n", "label a\n", "\r\n", "break\n"]) + line

    def strategy(self):
        return self.rng.choice(["trip", "x/../trip", "x/../../trip"])

    def options(self):
        return self.rng.choice([f"[options]\n\tstrategy = {self.strategy()}\n", "[options]strategy=trip\n",
                                f"[options]\n\tgpg-sign = trip\n\tstrategy = \"{self.strategy()}\"\n",
                                "[options]\n\tstrategy = tr\\\nip\n"])

    def attributes(self):
        names = self.rng.sample(["filter=f", "diff=d", "merge=m", "text", "working-tree-encoding=UTF-16",
                                 "export-subst",
                                 "filter=lfs", "diff=trip", "-text", "ident", "filter", "binary"], 3)
        return f"{self.rng.choice(['*', 'file', '*.d', '/**', '.git*'])} {' '.join(names)}\n[attr]binary filter=f\n"

    def modules(self):
        url = self.rng.choice([f"ext::{self.trip}", "./evil", "../evil", "-u./trip", "./.git/modules/sub"])
        path = self.rng.choice(["sub", "new", "evil", ".git", ".git/hooks", "-x"])
        name = self.rng.choice(["sub", "../evil", "x/../../evil", "hooks", "../hooks", "."])
        update = self.rng.choice([f"!{self.trip}", "checkout", "none", f"rebase\n\t!{self.trip}"])
        return f'[submodule "{name}"]\n\tpath = {path}\n\turl = {url}\n\tupdate = {update}\n'

    def noise(self):
        size = self.rng.choice([0, 1, 7, 40, 300])
        return bytes(self.rng.randrange(256) for _ in range(size))
