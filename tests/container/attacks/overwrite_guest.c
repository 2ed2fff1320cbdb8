// Writes to the program that starts the next sandbox as root of it (the way of CVE-2019-5736).
#include "ends.h"
int main(void) {
  const char* names[] = {arena("GUEST"), "/.hutch-guest", "/proc/1/exe", "/proc/self/root/.hutch-guest"};
  for (int i = 0; i < 4; i++) {
    if (open(names[i], O_WRONLY) >= 0) succeeded(names[i]);
    if (open(names[i], O_RDWR | O_APPEND) >= 0) succeeded(names[i]);
    if (!chmod(names[i], 0777)) succeeded("chmod");
    if (!rename(names[i], "moved")) succeeded("rename");
    if (!unlink(names[i])) succeeded("unlink");
    int fd = open(names[i], O_PATH);
    char again[64];
    snprintf(again, sizeof again, "/proc/self/fd/%d", fd);
    if (fd >= 0 && open(again, O_WRONLY) >= 0) succeeded(again);
  }
  held();
}
