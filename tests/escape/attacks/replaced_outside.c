// Waits until the person outside replaces a protected file, as editors and git do, and uses the one in its place.
// none: succeeds
#include "attack.h"
static void use(void) {
  if (reads_secret("denied-file")) succeeded("read of a denied file");
  if (writes(".git/config")) succeeded("write of git's configuration");
}
int main(void) {
  use();
  if (access("outside", F_OK)) held();
  close(open("waiting", O_CREAT | O_WRONLY, 0644));
  for (int i = 0; i < 4500 && access("replaced", F_OK); i++) usleep(10000);
  sleep(10);
  use();
  held();
}
