// Junk in the high halves of arguments that the kernel reads as 32 bits: a filter that compares all 64 is blind to it.
// none: succeeds
#include "attack.h"
int main(void) {
  const long junk = 0x5a5a5a5aL << 32;
  if (syscall(SYS_socket, junk | AF_UNIX, junk | SOCK_DGRAM, junk) >= 0) succeeded("socket(AF_UNIX, SOCK_DGRAM)");
  if (syscall(SYS_socket, junk | 40, SOCK_STREAM, 0) >= 0) succeeded("socket(AF_VSOCK)");
  if (syscall(SYS_socket, junk | AF_NETLINK, SOCK_RAW, junk | 16) >= 0) succeeded("socket(NETLINK_GENERIC)");
  if (syscall(SYS_unshare, (0x1L << 40) | CLONE_NEWUSER) == 0) succeeded("unshare");
  if (syscall(SYS_ioctl, 0, junk | 0x5412 /* TIOCSTI */, "x") == 0) succeeded("ioctl(TIOCSTI)");
  held();
}
