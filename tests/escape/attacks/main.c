// One program of all attacks: `attempts ATTACK ATTEMPT` makes one attempt, and without words lists them.
// Exit code 0 says that it succeeded, 1 that it was held, 2 that it could not be tried.
#define ATTACK "main"
#include "attack.h"

extern const struct attempt __start_attempts[], __stop_attempts[];

int main(int argc, char** argv) {
  for (const struct attempt* at = __start_attempts; at < __stop_attempts; ++at) {
    if (argc < 3) {
      printf("%s %s\n", at->attack, at->name);
    } else if (!strcmp(at->attack, argv[1]) && !strcmp(at->name, argv[2])) {
      int succeeded = at->succeeds();
      if (succeeded) printf("succeeded: %s %s\n", at->attack, at->name);
      return fflush(stdout) || !succeeded;
    }
  }
  return argc < 3 ? 0 : 2;
}
