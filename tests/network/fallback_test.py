# Where the kernel has no nftables: the proxy is the only way, nothing else has one, and a person is told.
import re
import shutil

import pytest

CURL = ("curl", "-sS", "--max-time", "20")


@pytest.fixture
def backend():
    """The process that makes the network of bwrap is the same; how many calls it makes before depends on bwrap."""
    return "namespace"


@pytest.fixture
def without_nftables(hutch, project):
    """Options of strace by which the socket for nftables' messages cannot be made, as in a kernel that lacks them."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    trace = project / "trace"
    hutch.run("true", wrap=["strace", "-f", "-e", "trace=socket", "-o", str(trace)]).ok()
    calls = {}
    for line in trace.read_text().splitlines():
        found = re.match(r"(\d+) +socket\((.*)", line)
        if not found:
            continue
        calls[found[1]] = calls.get(found[1], 0) + 1
        if "NETLINK_NETFILTER" in found[2]:
            return ["strace", "-f", "-o", "/dev/null", "-e", "trace=socket", "-e",
                    f"inject=socket:error=EPROTONOSUPPORT:when={calls[found[1]]}"]
    raise AssertionError("no socket for nftables was made")


def test_the_proxy_is_the_only_way(hutch, without_nftables, internet):
    script = f"""{' '.join(CURL)} http://good.example/proxy >&2 || echo no proxy
    {' '.join(CURL)} --noproxy '*' http://good.example/direct && echo captured
    {' '.join(CURL)} --noproxy '*' http://203.0.113.10/direct && echo out
    exit 3"""
    result = hutch.sh(script, options=["--allow-domain", "good.example"], wrap=without_nftables)
    assert result.code == 3 and result.text == "", str(result)
    assert "connections cannot be captured here" in result.errors, str(result)
    assert [line["path"] for line in internet.log("request")] == ["/proxy"]
