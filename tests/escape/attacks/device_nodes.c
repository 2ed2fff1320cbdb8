// Changes the mode, owner or times of a device, which is the host's; removes one; adds one.
// none: succeeds as root
#include "attack.h"
int main(void) {
  const char* names[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"};
  for (int i = 0; i < 6; i++) {
    struct stat info;
    if (stat(names[i], &info)) continue;
    if (!chmod(names[i], info.st_mode & 07777)) succeeded("chmod");
    if (!utimensat(AT_FDCWD, names[i], NULL, 0)) succeeded("utimensat");
    int fd = open(names[i], O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && !fchmod(fd, info.st_mode & 07777)) succeeded("fchmod");
    if (fd >= 0 && !fchown(fd, info.st_uid, info.st_gid)) succeeded("fchown");
  }
  if (!rename("/dev/null", "/dev/nill")) {
    rename("/dev/nill", "/dev/null");
    succeeded("rename");
  }
  held();
}
