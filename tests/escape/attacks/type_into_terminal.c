// Types into the terminal that hutch was started on, or takes it over.
// kind: streams
// none: cannot; the command has no controlling terminal of the caller's
#include "attack.h"
static int types(int fd) { return fd >= 0 && !ioctl(fd, 0x5412 /* TIOCSTI */, "x"); }
static int on_a_stream(void) { return types(0) || types(1) || types(2); }
static int chooses(void) {
  char twelve = 12;
  return !ioctl(0, 0x541c /* TIOCLINUX */, &twelve);
}
ATTEMPT(on_its_terminal, nobody, types(open("/dev/tty", O_RDWR)));
ATTEMPT(on_a_standard_stream, nobody, on_a_stream());
ATTEMPT(by_a_selection, nobody, chooses());
