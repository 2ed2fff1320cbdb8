// A package reads files of the host: a person's, the project's, the agent's home, by every name that there may be.
#include "attack.h"

int main(void) {
  const char* names[] = {arena("HOME_SECRET"), arena("PROJECT_SECRET"), arena("AGENT_SECRET")};
  const char* roots[] = {"", "/proc/1/root", "/proc/self/root", "/proc/1/cwd", "/proc/thread-self/root"};
  for (unsigned i = 0; i < 3; ++i) {
    for (unsigned root = 0; root < sizeof roots / sizeof *roots; ++root) {
      char path[4096];
      snprintf(path, sizeof path, "%s%s", roots[root], names[i]);
      if (reads_secret(path)) succeeded(path);
    }
  }
  return 1;
}
