# What the kernel counts for a user or the machine: how each count is filled, and what a neighbour needs of it.
"""Both are Python programs. `fill` takes until the kernel refuses, prints how many it got, and holds them until its
input ends; `use` takes a little, and exits with 0 if it got that. They run inside and outside of a sandbox."""

import dataclasses

COMMON = """
import array, ctypes, errno, os, resource, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long

def call(number, *arguments):
    answer = libc.syscall(ctypes.c_long(number), *arguments)
    if answer < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return answer

def all_descriptors():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))

def take(one, at_most):
    for count in range(at_most):
        try:
            one()
        except OSError:
            return count
    return at_most

def hold(count):
    print(count, flush=True)
    sys.stdin.read()
"""

IN_FLIGHT = """
all_descriptors()
null = os.open("/dev/null", os.O_RDONLY)
kept = []
def send(count):
    kept.append(socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM))
    rights = array.array("i", [null] * count)
    kept[-1][0].sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
"""

INOTIFY = """
all_descriptors()
def instance():
    descriptor = libc.inotify_init1(0)
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), "inotify_init1")
    return descriptor
"""

WATCHES = INOTIFY + """
files = []
for top, _, names in os.walk("/usr"):
    files += [os.path.join(top, name).encode() for name in names]
    if len(files) > 30000:
        break
def watch(instance, path):
    number = libc.inotify_add_watch(instance, path, 2)
    if number < 0:
        raise OSError(ctypes.get_errno(), "inotify_add_watch")
    return number
def fill():
    # A file of two names has one watch.
    kept = []
    for number in range(24):
        try:
            own = instance()
        except OSError:
            break
        kept.append(set())
        for path in files:
            try:
                kept[-1].add(watch(own, path))
            except OSError as error:
                if error.errno == errno.ENOSPC:
                    return sum(map(len, kept))
    return sum(map(len, kept))
"""

FANOTIFY = """
all_descriptors()
def group():  # FAN_REPORT_FID: what a user without privileges may ask for
    return call(300, ctypes.c_uint(0x200), ctypes.c_uint(0))
"""

TIMERS = """
class Event(ctypes.Structure):
    _fields_ = [("value", ctypes.c_void_p), ("signo", ctypes.c_int), ("notify", ctypes.c_int),
                ("pad", ctypes.c_char * 48)]
def timer():
    event, made = Event(None, 10, 0, b""), ctypes.c_int()
    call(222, ctypes.c_int(1), ctypes.byref(event), ctypes.byref(made))
"""

QUEUES = """
import atexit
class Attributes(ctypes.Structure):
    _fields_ = [("flags", ctypes.c_long), ("maximum", ctypes.c_long), ("size", ctypes.c_long),
                ("rest", ctypes.c_long * 5)]
def queue(maximum=10, size=4000):
    name = b"hutch-%d-%d" % (os.getpid(), len(names))
    call(240, name, ctypes.c_int(0o102), ctypes.c_int(0o600), ctypes.byref(Attributes(0, maximum, size)))
    names.append(name)
names = []
atexit.register(lambda: [call(241, name) for name in names])
"""

PTYS = """
all_descriptors()
def pty():
    return os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY)
"""

LOCKED = """
import atexit
def segment():
    made = call(29, ctypes.c_int(0), ctypes.c_size_t(65536), ctypes.c_int(0o1600))
    segments.append(made)
    call(31, ctypes.c_int(made), ctypes.c_int(11), None)
segments = []
atexit.register(lambda: [call(31, ctypes.c_int(one), ctypes.c_int(0), None) for one in segments])
"""

PIPES = """
import fcntl
all_descriptors()
kept = []
def pipe():
    kept.append(os.pipe())
    if fcntl.fcntl(kept[-1][0], 1032) <= 8192:
        raise OSError(errno.EPERM, "a small pipe")
"""

AIO = """
def context(requests=4096):
    made = ctypes.c_ulong()
    call(206, ctypes.c_uint(requests), ctypes.byref(made))
"""

KEYS = """
def key():
    call(248, b"user", b"hutch-%d" % os.getpid(), b"x", ctypes.c_size_t(1), ctypes.c_int(-2))
"""


@dataclasses.dataclass(frozen=True)
class Quota:
    name: str
    fill: str
    use: str
    most: object  # what a sandbox gets at most, of the host's own limit
    limit: object  # the host's own
    inside: bool = True  # whether neighbours in a sandbox may have any
    falls: bool = True  # whether who fills it where nothing isolates takes it from the person's own programs


def sysctl(name):
    with open(f"/proc/sys/{name}", encoding="ascii") as file:
        return int(file.read())


def hard(name):
    import resource  # of the test's own process, as those that it starts have it

    return resource.getrlimit(getattr(resource, name))[1]


def quota(name, code, fill, use, **more):
    return Quota(name, f"{COMMON}{code}hold({fill})\n", f"{COMMON}{code}{use}\n", **more)


QUOTAS = [
    # The kernel looks before it adds up to 253 at once. Programs in other sandboxes have the same limit of their own,
    # and cannot pass descriptors to each other meanwhile; hutch, which starts and ends them, can.
    quota("descriptors in flight", IN_FLIGHT, "250 * take(lambda: send(250), 1000)", "send(3)", inside=False,
          most=lambda host: host // 2 + 253, limit=lambda: hard("RLIMIT_NOFILE")),
    quota("inotify instances", INOTIFY, "take(instance, 5000)", "instance()",
          most=lambda host: host // 4, limit=lambda: sysctl("user/max_inotify_instances")),
    quota("inotify watches", WATCHES, "fill()", "watch(instance(), b'/')",
          most=lambda host: host // 2, limit=lambda: sysctl("user/max_inotify_watches")),
    quota("fanotify groups", FANOTIFY, "take(group, 5000)", "group()",
          most=lambda host: host // 4, limit=lambda: sysctl("user/max_fanotify_groups")),
    quota("timers", TIMERS, "take(timer, 200000)", "timer()",
          most=lambda host: host // 4, limit=lambda: hard("RLIMIT_SIGPENDING")),
    # Landlock knows no place for them: the limit is the wall behind it, and of kernels without it.
    quota("message queues", QUEUES, "40000 * take(queue, 1000)", "queue()", inside=False,
          most=lambda host: host // 2, limit=lambda: hard("RLIMIT_MSGQUEUE")),
    quota("locked memory", LOCKED, "65536 * take(segment, 4000)", "segment()",
          most=lambda host: host // 2, limit=lambda: hard("RLIMIT_MEMLOCK")),
    # Below it what machines may not be without: the other tests that run here.
    quota("terminals", PTYS, "take(pty, 400)", "pty()",
          most=lambda host: 128, limit=lambda: sysctl("kernel/pty/max"), falls=False),
    quota("asynchronous requests", AIO, "take(lambda: context(256), 8)", "sys.exit(0)",
          most=lambda host: 0, limit=lambda: sysctl("fs/aio-max-nr"), falls=False),
    quota("keys", KEYS, "take(key, 1)", "sys.exit(0)",
          most=lambda host: 0, limit=lambda: sysctl("kernel/keys/maxkeys"), falls=False),
    # Nothing holds it. Those that come later are smaller, and do.
    quota("pages of pipes", PIPES, "take(pipe, 5000)", "os.write(os.pipe()[1], b'x' * 4096)",
          most=lambda host: host, limit=lambda: sysctl("fs/pipe-user-pages-soft"), falls=False),
]
