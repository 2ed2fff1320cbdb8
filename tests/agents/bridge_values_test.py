# What is written to one value again and again takes the room of one value.
SCRIPT = """
import json, os, socket
body = json.dumps({"value": "v" * 60000}).encode()
codes = []
for _ in range(600):
    s = socket.socket(socket.AF_UNIX); s.connect(os.environ["HUTCH_BRIDGE"])
    s.sendall(b"POST /api/config/k HTTP/1.0\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body) + body)
    codes.append(s.recv(100)[9:12]); s.close()
print(codes.count(b"200"))
"""


def test_one_value_written_again_and_again_takes_no_disk(daemon, agent):
    """SQLite copies its log into the database at a commit (PRAGMA wal_autocheckpoint) only while no statement of the
    connection is under way."""
    assert daemon.exec(agent, "python3", "-c", SCRIPT, timeout=120).ok().text == "600\n"
    sizes = {path.name: path.stat().st_size for path in daemon.data.glob("bridge.db*")}
    assert sum(sizes.values()) < 12 << 20, sizes
