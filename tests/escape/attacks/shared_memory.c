// Opens a file that the host keeps in /dev/shm, /tmp and /run.
// none: succeeds
#include "attack.h"
int main(void) {
  if (reads_secret(arena("SHM_PATH"))) succeeded("/dev/shm");
  if (reads_secret(arena("TMP_PATH"))) succeeded("/tmp");
  held();
}
