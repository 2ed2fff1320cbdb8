// Waits until the user outside replaces a protected file, as editors and git do, and uses the one in its place.
// kind: files
// outside: replaces a protected file
#include "attack.h"
static int once(int (*use)(void)) {
  if (use()) return 1;
  close(open("waiting", O_CREAT | O_WRONLY, 0644));
  for (int i = 0; i < 4500 && access("replaced", F_OK); i++) usleep(10000);
  // hutch ends the run within seconds; until it does, the file in its place is not yet known to it.
  if (!is_unprotected()) sleep(10);
  return use();
}
static int read_it(void) { return reads_secret("denied-file"); }
static int write_it(void) { return writes(".git/config"); }
ATTEMPT(a_denied_file, everybody, once(read_it));
ATTEMPT(a_denied_file_put_aside, everybody, once(read_it));
ATTEMPT(the_configuration_of_git, everybody, once(write_it));
ATTEMPT(the_configuration_of_git_put_aside, everybody, once(write_it));
