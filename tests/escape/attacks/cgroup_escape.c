// Leaves its cgroup or plants a release agent: looks for a control file that can be opened for writing.
// none: succeeds as root
#include <ftw.h>
#include "attack.h"
static int look(const char* path, const struct stat* info, int type, struct FTW* place) {
  (void)info;
  (void)place;
  if (type == FTW_F && (strstr(path, "cgroup.procs") || strstr(path, "release_agent") || strstr(path, "/tasks")))
    if (open(path, O_WRONLY) >= 0) succeeded(path);
  return place->level > 6 ? FTW_SKIP_SUBTREE : FTW_CONTINUE;
}
int main(void) {
  nftw("/sys", look, 32, FTW_PHYS | FTW_ACTIONRETVAL);
  mkdir("point", 0755);
  if (!mount("cgroup", "point", "cgroup", 0, "memory")) {
    umount("point");
    succeeded("mount(cgroup)");
  }
  if (!mount("cgroup2", "point", "cgroup2", 0, NULL)) {
    umount("point");
    succeeded("mount(cgroup2)");
  }
  held();
}
