// Speaks to the engine by its socket, wherever that may be: whoever does is root of the machine.
#include "ends.h"
#include <sys/un.h>
static void speak(const char* path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) return;
  strcpy(address.sun_path, path);
  int pair[2];
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  // Not to make one is no reason not to have one.
  if (fd < 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0) fd = pair[0];
  const char* ask = "GET /version HTTP/1.0\r\n\r\n";
  char answer[64] = "";
  if (connect(fd, (struct sockaddr*)&address, sizeof address) == 0 && write(fd, ask, strlen(ask)) > 0 &&
      read(fd, answer, sizeof answer - 1) > 0)
    succeeded(path);
}
int main(void) {
  const char* names[] = {arena("ENGINE"), "/var/run/docker.sock", "/run/docker.sock", "/run/podman/podman.sock",
                         "/run/containerd/containerd.sock"};
  for (int i = 0; i < 5; i++) {
    char other[512];
    speak(names[i]);
    snprintf(other, sizeof other, "/proc/1/root%s", names[i]);
    speak(other);
  }
  held();
}
