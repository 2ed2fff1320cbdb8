# Uses sockets in every ordinary way and prints what came of it.
import array
import errno
import os
import socket
import threading


def tried(what, call):
    try:
        print(what, call())
    except OSError as error:
        print(what, errno.errorcode[error.errno])


def echo(address, kind=socket.SOCK_STREAM):
    listener = socket.socket(socket.AF_UNIX, kind)
    listener.bind(address)
    listener.listen()

    def serve():
        client, _ = listener.accept()
        client.sendall(client.recv(100).upper())
        client.close()

    thread = threading.Thread(target=serve)
    thread.start()
    client = socket.socket(socket.AF_UNIX, kind)
    client.connect(address)
    client.sendall(b"word")
    heard = client.recv(100)
    thread.join()
    return heard


def pass_descriptor():
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("fds")
    listener.listen()
    client = socket.socket(socket.AF_UNIX)
    client.connect("fds")
    server, _ = listener.accept()
    with open("passed", "w", encoding="ascii") as file:
        socket.send_fds(server, [b"x"], [file.fileno()])
    _, descriptors, _, _ = socket.recv_fds(client, 1, 1)
    os.write(descriptors[0], b"written")
    with open("passed", encoding="ascii") as file:
        return file.read()


def renamed():
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("before")
    listener.listen()
    os.rename("before", "after")
    socket.socket(socket.AF_UNIX).connect("after")
    os.link("after", "second")
    socket.socket(socket.AF_UNIX).connect("second")
    os.symlink("second", "link")
    socket.socket(socket.AF_UNIX).connect("link")
    return "all ways"


def in_child():
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("child")
    listener.listen()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            socket.socket(socket.AF_UNIX).connect(os.path.abspath("child"))
            code = 0
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1]


def credentials():
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("credentials")
    listener.listen()
    client = socket.socket(socket.AF_UNIX)
    client.connect("credentials")
    server, _ = listener.accept()
    _, uid, gid = array.array("i", server.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return (uid, gid) == (os.getuid(), os.getgid())


def tcp():
    listener = socket.create_server(("127.0.0.1", 0))
    client = socket.create_connection(listener.getsockname())
    server, _ = listener.accept()
    client.sendall(b"x")
    return server.recv(1)


def udp():
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.bind(("127.0.0.1", 0))
    other = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    other.connect(one.getsockname())
    other.send(b"y")
    return one.recv(1)


def dead():
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("dead")
    listener.close()
    socket.socket(socket.AF_UNIX).connect("dead")


def twice():
    socket.socket(socket.AF_UNIX).bind("twice")
    socket.socket(socket.AF_UNIX).bind("twice")


def no_room():
    refused = socket.create_server(("127.0.0.1", 0))
    address = refused.getsockname()
    refused.close()
    socket.create_connection(address)


tried("relative", lambda: echo("a"))
tried("absolute", lambda: echo(os.path.abspath("b")))
tried("with dots", lambda: echo("../" + os.path.basename(os.getcwd()) + "/c"))
tried("packets", lambda: echo("d", socket.SOCK_SEQPACKET))
tried("abstract", lambda: echo("\0name"))
tried("unnamed", lambda: socket.socket(socket.AF_UNIX).bind("") is None)
tried("passing", pass_descriptor)
tried("renamed", renamed)
tried("child", in_child)
tried("credentials", credentials)
tried("tcp", tcp)
tried("udp", udp)
tried("dead", dead)
tried("twice", twice)
tried("nobody", no_room)
tried("no directory", lambda: socket.socket(socket.AF_UNIX).bind("none/x"))
tried("a file", lambda: socket.socket(socket.AF_UNIX).connect("passed"))
tried("no name", lambda: socket.socket(socket.AF_UNIX).connect(""))
tried("closed", lambda: socket.socket(fileno=os.open("passed", os.O_RDONLY)).connect("passed"))
tried("mapped", lambda: socket.socket(socket.AF_INET6, socket.SOCK_STREAM).bind(("::1", 0)))
