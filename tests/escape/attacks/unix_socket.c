// Connects to a service of the host over a Unix socket.
// kind: sockets
#include <stddef.h>
#include <sys/un.h>
#include "attack.h"
static int connects(int fd, const char* path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) return 0;
  strcpy(address.sun_path, path);
  return fd >= 0 && !connect(fd, (void*)&address, sizeof address);
}
static int stream(void) { return socket(AF_UNIX, SOCK_STREAM, 0); }
static int one_of_a_pair(void) {
  int pair[2];
  return socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) ? -1 : pair[0];
}
static int abstract(int fd) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  size_t size = strlen(arena("ABSTRACT_NAME"));
  memcpy(address.sun_path + 1, arena("ABSTRACT_NAME"), size);
  return fd >= 0 && !connect(fd, (void*)&address, offsetof(struct sockaddr_un, sun_path) + 1 + size);
}
static int by_a_datagram(const char* path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  int fd = one_of_a_pair();
  return fd >= 0 && sendto(fd, "x", 1, 0, (void*)&address, sizeof address) == 1;
}
// The path of a session's socket is long; by a directory's descriptor it is short.
static int of_session(const char* name) {
  int directory = open(arena("SESSION"), O_PATH | O_DIRECTORY);
  return connects(stream(), path_of("/proc/self/fd/%d/%s", directory, name));
}
static int by_a_new_name(void) { return !link("service.sock", "other.sock") && connects(stream(), "other.sock"); }
static int by_a_link(void) { return !symlink("service.sock", "link.sock") && connects(stream(), "link.sock"); }
static int moved(void) { return !rename("service.sock", "other.sock") && connects(stream(), "other.sock"); }
static int by_a_descriptor(void) {
  return connects(stream(), path_of("/proc/self/fd/%d", open("service.sock", O_PATH)));
}
ATTEMPT(by_its_path, everybody, connects(stream(), arena("SOCKET_PATH")));
ATTEMPT(by_proc, everybody, connects(stream(), "/proc/self/cwd/service.sock"));
ATTEMPT(by_a_hard_link, everybody, by_a_new_name());
ATTEMPT(by_a_symbolic_link, everybody, by_a_link());
ATTEMPT(by_a_rename, everybody, moved());
ATTEMPT(by_a_descriptor, everybody, by_a_descriptor());
ATTEMPT(by_an_abstract_name, everybody, abstract(stream()));
ATTEMPT(by_one_of_a_pair, everybody, connects(one_of_a_pair(), arena("DATAGRAM_PATH")));
ATTEMPT(by_a_datagram, everybody, by_a_datagram(arena("DATAGRAM_PATH")));
ATTEMPT(session_bus, everybody, of_session("bus"));
ATTEMPT(systemd_manager, everybody, of_session("systemd/private"));
ATTEMPT(ssh_agent, everybody, of_session("ssh-agent"));
ATTEMPT(gpg_agent, everybody, of_session("gnupg/S.gpg-agent"));
ATTEMPT(wayland, everybody, of_session("wayland-0"));
ATTEMPT(pipewire, everybody, of_session("pipewire-0"));
ATTEMPT(docker, everybody, of_session("docker.sock"));
ATTEMPT(podman, everybody, of_session("podman/podman.sock"));
ATTEMPT(tmux, everybody, of_session("tmux"));
ATTEMPT(hutch_daemon, everybody, of_session("hutch/daemon.sock"));
