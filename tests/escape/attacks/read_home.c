// Reads a file of the hidden home: by its path, by its relatives, through /proc and by climbing from a descriptor.
// none: succeeds
#include "attack.h"
int main(void) {
  char path[4096];
  const char* secret = arena("HOME_SECRET");
  if (reads_secret(secret)) succeeded("by its path");
  const char* roots[] = {"/proc/self/root", "/proc/1/root", "/proc/1/cwd/../../../../../..",
                         "/proc/self/cwd/../../../../../..", "/..//"};
  for (int i = 0; i < 5; i++) {
    snprintf(path, sizeof path, "%s%s", roots[i], secret);
    if (reads_secret(path)) succeeded(path);
  }
  if (reads_secret("../../secret")) succeeded("from the project upwards");
  int up = open("..", O_PATH), top = openat(up, "..", O_PATH);
  int fd = openat(top, "secret", O_RDONLY);
  if (fd >= 0) succeeded("by a descriptor of an ancestor");
  held();
}
