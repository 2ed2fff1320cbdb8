# Servers of the host's at Unix sockets, and a program that connects to one.
import contextlib
import os
import socket
import threading

CONNECT = """
import errno, socket, sys
made = socket.socket(socket.AF_UNIX)
try: made.connect(sys.argv[1])
except OSError as error: print(errno.errorcode[error.errno]); sys.exit(1)
else: print(made.recv(100).decode())
"""


class Service:
    """A server of the host's that greets whoever connects."""

    def __init__(self, path, person):
        self.path, self.count = path, 0
        self.listener = socket.socket(socket.AF_UNIX)
        directory = os.open(path.parent, os.O_PATH)
        self.listener.bind(f"/proc/self/fd/{directory}/{path.name}")
        os.close(directory)
        person.own(path)
        self.listener.listen(8)
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            self.count += 1
            with contextlib.suppress(OSError):
                client.sendall(b"hello from the host")
            client.close()

    def stop(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.path.unlink(missing_ok=True)
