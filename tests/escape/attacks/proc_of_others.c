// Looks into a process of the host through /proc.
// kind: processes
#include <dirent.h>
#include "attack.h"
static const char* of_victim(const char* name) { return path_of("/proc/%d/%s", number("VICTIM_PID"), name); }
static int leads(const char* name) {
  char link[PATH_MAX];
  return readlink(of_victim(name), link, sizeof link) > 0;
}
static int searched(const char* name) {
  DIR* all = opendir("/proc");
  for (struct dirent* entry; all && (entry = readdir(all));) {
    int other = atoi(entry->d_name);
    if (other < 1 || other == getpid() || other == getppid()) continue;
    if (reads_secret(path_of("/proc/%d/%s", other, name))) return 1;
  }
  return 0;
}
static int listed(void) {
  int found = 0;
  DIR* all = opendir("/proc");
  for (struct dirent* entry; all && (entry = readdir(all));) found += atoi(entry->d_name) == number("VICTIM_PID");
  return found;
}
ATTEMPT(environment, everybody, opens(of_victim("environ"), O_RDONLY));
ATTEMPT(arguments, everybody, opens(of_victim("cmdline"), O_RDONLY));
ATTEMPT(maps, everybody, opens(of_victim("maps"), O_RDONLY));
ATTEMPT(memory, everybody, opens(of_victim("mem"), O_RDWR));
ATTEMPT(status, everybody, opens(of_victim("status"), O_RDONLY));
ATTEMPT(stack, root, opens_here(of_victim("stack"), O_RDONLY));
ATTEMPT(root_directory, everybody, leads("root"));
ATTEMPT(working_directory, everybody, leads("cwd"));
ATTEMPT(program, everybody, leads("exe"));
ATTEMPT(descriptors, everybody, leads("fd/0"));
ATTEMPT(the_environment_of_any, everybody, searched("environ"));
ATTEMPT(its_place_in_the_list, everybody, listed());
ATTEMPT(its_score_for_lack_of_memory, everybody, opens(of_victim("oom_score_adj"), O_WRONLY));
