// Runs a program that gives away rights: set-user-ID ones of root's, and those that it makes itself.
// kind: privileges
#include "attack.h"
#include <sys/mman.h>
static int effective_user(pid_t pid) {
  char line[256];
  FILE* status = fopen(path_of("/proc/%d/status", pid), "r");
  int real, effective = -1;
  while (status && fgets(line, sizeof line, status))
    if (sscanf(line, "Uid: %d %d", &real, &effective) == 2) break;
  return effective;
}
// It asks for a password, and waits.
static int becomes_root(const char* program) {
  if (getuid() == 0) return 0;
  if (access(program, X_OK)) return absent();
  int pipe_in[2];
  if (pipe(pipe_in)) return 0;
  pid_t pid = fork();
  if (pid == 0) {
    dup2(pipe_in[0], 0);
    close(pipe_in[1]);
    dup2(open("/dev/null", O_WRONLY), 1);
    dup2(1, 2);
    setsid();
    execl(program, program, (char*)NULL);
    _exit(1);
  }
  int found = 0;
  for (int i = 0; i < 50 && !found && !waitpid(pid, NULL, WNOHANG); i++) {
    found = effective_user(pid) == 0;
    usleep(10000);
  }
  close(pipe_in[1]);
  close(pipe_in[0]);
  return found;
}
static int has_bits(const char* path) {
  struct stat info;
  return !stat(path, &info) && (info.st_mode & 06000) != 0;
}
static int made(void) { return !system("cp /bin/true s"); }
static int by_descriptor(int flags) {
  int fd = made() ? open("s", flags) : -1;
  return fd >= 0 && !fchmod(fd, 06755) && has_bits("s");
}
static int created(void) {
  int fd = open("s", O_CREAT | O_WRONLY, 0644);
  return fd >= 0 && write(fd, "x", 1) == 1 && !fchmod(fd, 04755) && has_bits("s");
}
static int with_mode(void) {
  umask(0);
  close(open("s", O_CREAT | O_WRONLY, 06755));
  return has_bits("s");
}
static int by_proc(void) {
  int fd = made() ? open("s", O_RDWR) : -1;
  return fd >= 0 && !chmod(path_of("/proc/self/fd/%d", fd), 06755) && has_bits("s");
}
static int by_empty_path(void) {
  int fd = made() ? open("s", O_RDWR) : -1;
  if (fd < 0) return 0;
  long answer = syscall(452 /* fchmodat2 */, fd, "", 06755, AT_EMPTY_PATH);
  return answer < 0 && errno == ENOSYS && is_unprotected() ? absent() : !answer && has_bits("s");
}
static int by_name_at(void) {
  long answer = made() ? syscall(452 /* fchmodat2 */, AT_FDCWD, "s", 06755, 0) : -1;
  return answer < 0 && errno == ENOSYS && is_unprotected() ? absent() : !answer && has_bits("s");
}
static int by_mknod(void) { return umask(0), !mknod("s", S_IFREG | 06755, 0) && has_bits("s"); }
static int unnamed(void) {
  umask(0);
  int fd = open(".", O_TMPFILE | O_RDWR, 06755);
  return fd >= 0 && !linkat(AT_FDCWD, path_of("/proc/self/fd/%d", fd), AT_FDCWD, "s", AT_SYMLINK_FOLLOW) &&
         has_bits("s");
}
static int renamed(void) {
  return !system("cp /bin/true /tmp/hutch-s && chmod 4755 /tmp/hutch-s && mv /tmp/hutch-s s") && has_bits("s");
}
static int by_openat2(void) {
  struct {
    unsigned long long flags, mode, resolve;
  } how = {O_CREAT | O_WRONLY, 06755, 0};
  umask(0);
  return syscall(437 /* openat2 */, AT_FDCWD, "s", &how, sizeof how) >= 0 && has_bits("s");
}
// The size of the argument is that of hutch's own calls, which no filter refuses.
static int by_padded_openat2(void) {
  struct {
    unsigned long long flags, mode, resolve, padding[5];
  } how = {O_CREAT | O_RDWR, 06755, 0, {0}};
  umask(0);
  int fd = syscall(437 /* openat2 */, AT_FDCWD, "s", &how, sizeof how);
  if (fd < 0) return 0;
  // An empty file is no program. Each way to give it content takes the bits away.
  if (ftruncate(fd, 4096) && fallocate(fd, 0, 0, 4096) && write(fd, "x", 1) != 1) return 0;
  char* content = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (content != MAP_FAILED) memcpy(content, "#!/bin/sh\n", 10);
  return has_bits("s");
}
static int in_a_group_directory(void) {
  umask(0);
  return !mkdir("d", 0755) && !chmod("d", 02755) && made() && !system("cp s d/s") && !chmod("d/s", 02755) &&
         has_bits("d/s");
}
ATTEMPT(su, user, becomes_root("/usr/bin/su"));
ATTEMPT(made_by_chmod, everybody, made() && !chmod("s", 06755) && has_bits("s"));
ATTEMPT(made_by_fchmod, everybody, by_descriptor(O_RDWR));
ATTEMPT(made_by_fchmod_of_a_reading_descriptor, everybody, by_descriptor(O_RDONLY));
ATTEMPT(made_by_fchmod_of_a_new_file, everybody, created());
ATTEMPT(made_by_open, everybody, with_mode());
ATTEMPT(made_by_openat2, everybody, by_openat2());
ATTEMPT(made_by_a_padded_openat2, root, by_padded_openat2());
ATTEMPT(made_by_proc_self_fd, everybody, by_proc());
ATTEMPT(made_by_fchmodat2_of_a_descriptor, everybody, by_empty_path());
ATTEMPT(made_by_fchmodat2_of_a_name, everybody, by_name_at());
ATTEMPT(made_by_mknod, everybody, by_mknod());
ATTEMPT(made_without_a_name, everybody, unnamed());
ATTEMPT(moved_from_tmp, everybody, renamed());
ATTEMPT(group_of_a_directory, everybody, in_a_group_directory());
