# The source archive of a Debian package, by the machine's own package manager.
import pathlib
import re
import subprocess


def archive(package, folder):
    """The upstream archive of a package by apt, from the sources that this machine has; None where there are none."""
    folder.mkdir(mode=0o755)
    lists = folder / "lists"
    (lists / "partial").mkdir(parents=True)
    listed = folder / "sources.list"
    listed.write_text(source_lines(), encoding="utf-8")
    apt = ["apt-get", "-q", "-o", f"Dir::Etc::sourcelist={listed}", "-o", "Dir::Etc::sourceparts=-",
           "-o", f"Dir::State::lists={lists}", "-o", "APT::Sandbox::User=root"]
    for verb in (["update"], ["source", "--download-only", package]):
        done = subprocess.run([*apt, *verb], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, check=False)
        if done.returncode != 0:
            return None
    found = sorted(folder.glob(f"{package}_*.orig.tar.*"))
    return next((path for path in found if not path.name.endswith(".asc")), None)


def source_lines():
    """deb-src lines for what this machine has deb lines, or stanzas, for."""
    lines = []
    places = [pathlib.Path("/etc/apt/sources.list"), *pathlib.Path("/etc/apt/sources.list.d").glob("*")]
    for path in places:
        text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
        if path.suffix == ".sources":
            lines += stanza_lines(text)
        lines += [f"deb-src {line[4:]}" for line in text.splitlines() if line.startswith("deb ")]
    return "\n".join(lines) + "\n"


def stanza_lines(text):
    for stanza in re.split(r"\n\s*\n", text):
        keys = dict(re.findall(r"^(URIs|Suites|Components|Signed-By): *(.+)$", stanza, re.MULTILINE))
        if not {"URIs", "Suites", "Components"} <= set(keys):
            continue
        signed = f"[signed-by={keys['Signed-By']}] " if keys.get("Signed-By", "").startswith("/") else ""
        for uri in keys["URIs"].split():
            yield from (f"deb-src {signed}{uri} {suite} {keys['Components']}" for suite in keys["Suites"].split())
