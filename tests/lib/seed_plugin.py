# The seed's own plugin, byte for byte, with the pandas of Debian's packages: the same on each backend that has plugins.
"""archive(path) makes a Debian with pandas from where this machine takes its packages; works(daemon, agent) says
whether the plugin does there."""

import os
import pathlib
import shutil
import subprocess

import pytest

from mcp_stdio import Client, names

TEXT = (pathlib.Path(__file__).parents[1] / "plugins/data_tools.json").read_bytes()
PACKAGES = "python3-pandas,python3-matplotlib,python3-seaborn,python3-pip"
RELEASE = "VERSION_CODENAME="
# The program has mounts of its own while it works, which end with it.
ALONE = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]


def sources():
    """The files that say where this machine's packages come from."""
    places = [pathlib.Path("/etc/apt/sources.list"), *pathlib.Path("/etc/apt/sources.list.d").glob("*")]
    return [str(path) for path in places if path.suffix in (".list", ".sources") and path.is_file()]


def release():
    for line in pathlib.Path("/etc/os-release").read_text().splitlines():
        if line.startswith(RELEASE):
            return line[len(RELEASE):].strip('"')
    return ""


def archive(path):
    """Skips where it cannot be made. HUTCH_TEST_PANDAS_IMAGE may name one that is there."""
    if os.environ.get("HUTCH_TEST_PANDAS_IMAGE"):
        return pathlib.Path(os.environ["HUTCH_TEST_PANDAS_IMAGE"])
    if not shutil.which("mmdebstrap"):
        pytest.skip("mmdebstrap is not installed")
    made = subprocess.run([*ALONE, "mmdebstrap", "--mode=root", "--variant=apt", "--format=tar",
                           f"--include={PACKAGES}", '--customize-hook=mkdir -p "$1/workspace" "$1/output"',
                           release(), path, *sources()],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=1800)
    if made.returncode != 0:
        pytest.skip(f"no Debian with pandas can be had: {made.stderr[-300:]}")
    path.chmod(0o644)
    return path


def works(daemon, agent):
    """Installed, and called by a client of MCP: pip finds what the packages have, and fetches nothing."""
    daemon("secret", "set", "--agent", agent, "OPENAI_API_KEY", stdin=b"sk-0123456789abcdef").ok()
    [done] = daemon.json("plugin", "install", "-", "--agent", agent, stdin=TEXT, timeout=900)
    assert (done["state"], done["tools"]) == ("ready", ["python-data-tools_analyze_csv"]), done
    home = daemon.sh(agent, "printf 'a,b\\n1,2\\n3,4\\n' > x.csv; pwd", timeout=180).ok().text.strip()
    client = Client(daemon, agent)
    client.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "t", "version": "1"})
    client.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert "python-data-tools_analyze_csv" in names(client.ask("tools/list")[0])
    answer, _ = client.ask("tools/call", name="python-data-tools_analyze_csv", arguments={"file": f"{home}/x.csv"})
    client.close()
    said = answer["structuredContent"]
    assert said["ok"] and said["result"]["exit_code"] == 0, said
    rows = dict(line.split(None, 1) for line in said["result"]["stdout"].splitlines()[1:])
    assert rows["mean"].split() == ["2.000000", "3.000000"] and rows["count"].split() == ["2.000000", "2.000000"], rows
    daemon("plugin", "remove", "python-data-tools").ok()
    assert daemon.sh(agent, "ls -A plugins", timeout=180).text == ""
