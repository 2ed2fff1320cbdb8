// Writes what --deny-write protects: directly, through links, by renaming over it, by truncating and by mode and times.
// none: succeeds
#include <sys/xattr.h>
#include "attack.h"
int main(void) {
  if (writes("locked/file")) succeeded("append");
  if (writes("locked/new")) succeeded("a new file");
  symlink("locked", "via");
  if (writes("via/file")) succeeded("by a symbolic link");
  if (!truncate("locked/file", 0)) succeeded("truncate");
  if (!unlink("locked/file")) succeeded("unlink");
  if (writes("mine") && !rename("mine", "locked/file")) succeeded("rename over it");
  if (!link("locked/file", "hard") && writes("hard")) succeeded("by a hard link");
  int fd = open("locked/file", O_RDONLY);
  if (fd >= 0 && !fchmod(fd, 0777)) succeeded("fchmod of a read-only descriptor");
  if (fd >= 0 && !futimens(fd, NULL)) succeeded("futimens");
  if (fd >= 0 && !fsetxattr(fd, "user.x", "y", 1, 0)) succeeded("fsetxattr");
  if (!rename("locked", "moved")) succeeded("rename of the directory");
  held();
}
