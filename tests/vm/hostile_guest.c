// A virtual machine whose first program is not hutch's: root of the machine, who does to the host what can be tried.
//
// Installed in the place of hutch-guest, it is hutch-guest (REAL) everywhere but in the machine. As `probe here DIR` it
// does the same to a directory that nothing protects.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

static void told(int file, const char* what, int result) {
  char line[128];
  const int size = snprintf(line, sizeof(line), "%s %d\n", what, result < 0 ? errno : 0);
  if (write(file, line, (size_t)size) < 0) return;
}

static void attack(const char* directory) {
  if (chdir(directory) != 0) return;
  const int log = open("log", O_CREAT | O_WRONLY | O_TRUNC, 0644);
  told(log, "block", mknod("block", S_IFBLK | 0666, makedev(8, 0)));
  told(log, "char", mknod("char", S_IFCHR | 0666, makedev(1, 3)));
  told(log, "fifo", mkfifo("fifo", 0666));
  struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "socket"};
  told(log, "socket", bind(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr*)&name, sizeof(name)));
  const int mine = open("mine", O_CREAT | O_WRONLY, 0755);
  told(log, "write", (int)write(mine, "#!/bin/sh\n", 10));
  told(log, "setuid", chmod("mine", 06755));
  told(log, "made setuid", open("made", O_CREAT | O_WRONLY, 06755));
  told(log, "owner", chown("mine", 12345, 12345));
  told(log, "capability",
       setxattr("mine", "security.capability", "\1\0\0\2\377\377\377\377\0\0\0\0\377\377\377\377\0\0\0", 20, 0));
  told(log, "absolute link", symlink("/etc/hostname", "out"));
  told(log, "link up", symlink("../../../../../../../etc/hostname", "up"));
  told(log, "sticky", mkdir("sticky", 0777) | chmod("sticky", 07777));
  close(log);
}

#ifdef FLOOD
static int port(void) {
  for (int tries = 0; tries < 500; ++tries, usleep(10000)) {
    DIR* devices = opendir("/dev");
    for (struct dirent* one; devices && (one = readdir(devices));) {
      char path[300];
      if (strncmp(one->d_name, "vport", 5) != 0) continue;
      snprintf(path, sizeof(path), "/dev/%s", one->d_name);
      return open(path, O_RDWR);
    }
    if (devices) closedir(devices);
  }
  return -1;
}

// Bytes that are no frames, frames that say they are 4 GB, and frames of every kind with nothing in them.
static void flood(void) {
  const int to = port();
  char bytes[8192];
  for (unsigned round = 0; round < 20000; ++round) {
    for (size_t i = 0; i < sizeof(bytes); ++i) bytes[i] = (char)(FLOOD == 1 ? rand() : FLOOD == 2 ? 0xff : 0);
    if (FLOOD == 3) {
      for (size_t at = 0; at + 8 <= sizeof(bytes); at += 8) bytes[at + 4] = (char)(round + at / 8);
    }
    if (write(to, bytes, sizeof(bytes)) < 0) return;
  }
}
#endif

static void be_machine(void) {
  mkdir("/dev", 0755), mkdir("/proc", 0755), mkdir("/share", 0755);
  mount("dev", "/dev", "devtmpfs", 0, "");
  mount("proc", "/proc", "proc", 0, "");
  for (int number = 100; number < 200; ++number) {
    char path[64];
    snprintf(path, sizeof(path), "/modules/%d", number);
    const int module = open(path, O_RDONLY);
    if (module >= 0) syscall(SYS_finit_module, module, "", 0);
  }
#ifdef FLOOD
  flood();
#else
  if (mount("hutch", "/share", "virtiofs", 0, "") == 0) {
    // First as root, who is nobody there, then in the name of the one user that there is, with all rights of root's
    // kept (capabilities(7), SECBIT_NO_SETUID_FIXUP).
    attack("/share/0");
    prctl(PR_SET_SECUREBITS, 4);
    setfsgid(1000);
    setfsuid(1000);
    // What the directories lie in is the host's too.
    mkdir("/share/new", 0777);
    close(open("/share/top", O_CREAT | O_WRONLY, 0666));
    rename("/share/0", "/share/moved");
    rmdir("/share/2");
    for (int number = 0; number < 10; ++number) {
      char path[64];
      snprintf(path, sizeof(path), "/share/%d", number);
      attack(path);
    }
  }
#endif
  sync();
  reboot(RB_POWER_OFF);
  for (;;) pause();
}

int main(int count, char** words, char** environment) {
  if (count == 3 && strcmp(words[1], "here") == 0) {
    attack(words[2]);
    return 0;
  }
  if (getpid() == 1) be_machine();
  execve(REAL, words, environment);
  return 125;
}
