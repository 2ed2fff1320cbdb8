// Leaves its cgroup or plants a release agent.
// none: cannot; the kernel asks for the right to mount it in the first namespace
// kind: kernel
#include <ftw.h>
#include "attack.h"
static const char* wanted;
static int look(const char* path, const struct stat* info, int type, struct FTW* place) {
  (void)info;
  if (type == FTW_F && strstr(path, wanted) && opens(path, O_WRONLY)) return FTW_STOP;
  return place->level > 6 ? FTW_SKIP_SUBTREE : FTW_CONTINUE;
}
static int finds(const char* name) {
  wanted = name;
  return nftw("/sys", look, 32, FTW_PHYS | FTW_ACTIONRETVAL) == FTW_STOP;
}
static int mounts(const char* type, const char* options) {
  mkdir("point", 0755);
  return !mount("cgroup", "point", type, 0, options) && !umount("point");
}
static int in_userns(void) {
  return !unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWCGROUP) && mounts("cgroup", "rdma");
}
ATTEMPT(by_processes, root, finds("cgroup.procs") || finds("/tasks"));
ATTEMPT(by_a_release_agent, root, finds("release_agent"));
ATTEMPT(by_its_limits, root, finds("memory.limit_in_bytes") || finds("memory.max") || finds("pids.max"));
ATTEMPT(by_freezing, root, finds("freezer.state") || finds("cgroup.freeze"));
ATTEMPT(by_a_mount_of_the_first_version, root, mounts("cgroup", "memory"));
ATTEMPT(by_a_mount_of_the_second_version, root, mounts("cgroup2", NULL));
ATTEMPT(by_a_mount_in_a_namespace_of_its_own, nobody, in_userns());
