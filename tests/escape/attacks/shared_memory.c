// Opens what the host keeps in places that all share.
// kind: files
#include "attack.h"
ATTEMPT(shared_memory, everybody, reads_secret(arena("SHM_PATH")));
ATTEMPT(tmp, everybody, reads_secret(arena("TMP_PATH")));
ATTEMPT(shared_memory_by_proc, everybody, reads_secret(path_of("/proc/self/root%s", arena("SHM_PATH"))));
ATTEMPT(tmp_by_proc, everybody, reads_secret(path_of("/proc/self/root%s", arena("TMP_PATH"))));
ATTEMPT(tmp_unlinked, everybody, !unlink(arena("TMP_PATH")));
ATTEMPT(shared_memory_unlinked, everybody, !unlink(arena("SHM_PATH")));
