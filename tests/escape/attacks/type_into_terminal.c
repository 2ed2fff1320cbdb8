// Types into the terminal that hutch was started on, or takes it over.
// none: cannot; the command has no controlling terminal of the caller's
#include "attack.h"
int main(void) {
  int fd = open("/dev/tty", O_RDWR);
  if (fd >= 0 && !ioctl(fd, 0x5412 /* TIOCSTI */, "x")) succeeded("TIOCSTI on /dev/tty");
  for (fd = 0; fd < 3; fd++)
    if (!ioctl(fd, 0x5412, "x")) succeeded("TIOCSTI on a standard stream");
  char twelve = 12;
  if (!ioctl(0, 0x541c /* TIOCLINUX */, &twelve)) succeeded("TIOCLINUX");
  held();
}
