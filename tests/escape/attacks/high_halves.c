// Junk in the high halves of arguments that the kernel reads as 32 bits: a filter that compares all 64 is blind to it.
// kind: kernel
// none: cannot; what it is about is not there, or needs a terminal
#include "attack.h"
static const long kJunk = 0x5a5a5a5aL << 32;
static int opened(int family, int type, int protocol) {
  return syscall(SYS_socket, kJunk | family, kJunk | type, kJunk | protocol) >= 0;
}
ATTEMPT(datagrams, everybody, opened(AF_UNIX, SOCK_DGRAM, 0));
ATTEMPT(netlink, everybody, opened(AF_NETLINK, SOCK_RAW, 16));
ATTEMPT(raw_packets, root, opened(AF_PACKET, SOCK_RAW, 0));
ATTEMPT(unshare, nobody, syscall(SYS_unshare, kJunk | CLONE_NEWUSER) == 0);
ATTEMPT(a_terminal, nobody, syscall(SYS_ioctl, 0, kJunk | 0x5412 /* TIOCSTI */, "x") == 0);
ATTEMPT(a_mode, everybody, close(open("s", O_CREAT | O_WRONLY, 0644)) == 0 &&
                               !syscall(SYS_chmod, "s", kJunk | 04755));
