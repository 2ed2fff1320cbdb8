// Takes a lease on a file of the project: whoever opens it for writing outside then waits for up to 45 seconds.
// kind: files
// none: kernels before 6.19 have no delegations
#include "attack.h"
#define SETDELEG (1024 + 16)
// Several times: a lease fails while somebody else has the file open.
static int leases(const char* path, int flags, int command, long argument) {
  for (int i = 0; i < 100; i++) {
    int fd = open(path, flags, 0644);
    if (fd < 0) return 0;
    if (!fcntl(fd, command, argument)) return 1;
    close(fd);
    usleep(2000);
  }
  return 0;
}
static int delegation(void) {
  struct {
    unsigned flags;
    unsigned short type, pad;
  } read = {0, F_RDLCK, 0};
  return leases("leased", O_RDONLY | O_CREAT, SETDELEG, (long)&read);
}
ATTEMPT(read_lease, everybody, leases("leased", O_RDONLY | O_CREAT, F_SETLEASE, F_RDLCK));
ATTEMPT(write_lease, everybody, leases("leased", O_RDONLY | O_CREAT, F_SETLEASE, F_WRLCK));
ATTEMPT(file_that_was_there, everybody, leases("locked/file", O_RDONLY, F_SETLEASE, F_RDLCK));
ATTEMPT(delegated, nobody, delegation());
