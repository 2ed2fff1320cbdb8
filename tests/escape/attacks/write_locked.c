// Writes what --deny-write protects.
// none: cannot; there is no mount to remount
// kind: files
#include <sys/mman.h>
#include <sys/xattr.h>
#include "attack.h"
static int of(int (*change)(int)) {
  int fd = open("locked/file", O_RDONLY);
  return fd >= 0 && change(fd);
}
static int mode(int fd) { return !fchmod(fd, 0777); }
static int times(int fd) { return !futimens(fd, NULL); }
static int attribute(int fd) { return !fsetxattr(fd, "user.x", "y", 1, 0); }
static int again(int fd) { return writes(path_of("/proc/self/fd/%d", fd)); }
static int owner(int fd) { return !fchown(fd, getuid(), getgid()); }
static int flags(int fd) {
  int value = 0x40;  // FS_NODUMP_FL
  return !ioctl(fd, _IOW('f', 2, long), &value);
}
static int linked(int fd) {
  return !linkat(AT_FDCWD, path_of("/proc/self/fd/%d", fd), AT_FDCWD, "hard", AT_SYMLINK_FOLLOW) && writes("hard");
}
static int mapped(void) {
  int fd = open("locked/file", O_RDWR);
  char* text = fd < 0 ? MAP_FAILED : mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return text != MAP_FAILED && (text[0] = 'X', 1);
}
static int unnamed(void) {
  int fd = open(".", O_TMPFILE | O_RDWR, 0644);
  return fd >= 0 && write(fd, "x", 1) == 1 &&
         !linkat(AT_FDCWD, path_of("/proc/self/fd/%d", fd), AT_FDCWD, "locked/new", AT_SYMLINK_FOLLOW);
}
static int emptied(void) {
  int fd = open("locked/file", O_RDONLY | O_TRUNC);
  struct stat info;
  return fd >= 0 && !fstat(fd, &info) && info.st_size == 0;
}
static int in_userns(void) {
  return !unshare(CLONE_NEWUSER | CLONE_NEWNS) && !mount(NULL, "locked", NULL, MS_REMOUNT | MS_BIND, NULL) &&
         writes("locked/file");
}
static int descends(void) {
  int directory = open("locked", O_PATH | O_DIRECTORY);
  return writes_to(openat(directory, "new", O_WRONLY | O_CREAT, 0644));
}
ATTEMPT(append, everybody, writes("locked/file"));
ATTEMPT(a_new_file, everybody, writes("locked/new"));
ATTEMPT(a_new_directory, everybody, !mkdir("locked/new", 0755));
ATTEMPT(a_new_link, everybody, !symlink("x", "locked/new"));
ATTEMPT(a_new_pipe, everybody, !mkfifo("locked/new", 0644));
ATTEMPT(by_a_symbolic_link, everybody, !symlink("locked", "via") && writes("via/file"));
ATTEMPT(by_proc_self_cwd, everybody, writes("/proc/self/cwd/locked/file"));
ATTEMPT(by_proc_self_root, everybody, writes(path_of("/proc/self/root%s/locked/file", get_current_dir_name())));
ATTEMPT(by_a_descriptor_of_the_directory, everybody, descends());
ATTEMPT(truncate, everybody, !truncate("locked/file", 0));
ATTEMPT(opened_for_reading_and_emptied, everybody, emptied());
ATTEMPT(unlink, everybody, !unlink("locked/file"));
ATTEMPT(rename_over_it, everybody, writes("mine") && !rename("mine", "locked/file"));
ATTEMPT(rename_away, everybody, !rename("locked/file", "mine"));
ATTEMPT(exchange, everybody,
        writes("mine") && !syscall(SYS_renameat2, AT_FDCWD, "mine", AT_FDCWD, "locked/file", 2 /* RENAME_EXCHANGE */));
ATTEMPT(by_a_hard_link, everybody, !link("locked/file", "hard") && writes("hard"));
ATTEMPT(by_a_link_of_a_descriptor, everybody, of(linked));
ATTEMPT(by_a_descriptor_opened_again, everybody, of(again));
ATTEMPT(a_file_without_a_name, everybody, unnamed());
ATTEMPT(by_a_mapping, everybody, mapped());
ATTEMPT(mode_by_its_name, everybody, !chmod("locked/file", 0777));
ATTEMPT(mode_by_a_descriptor, everybody, of(mode));
ATTEMPT(mode_of_the_directory, everybody, !chmod("locked", 0700));
ATTEMPT(owner_by_a_descriptor, everybody, of(owner));
ATTEMPT(times_by_a_descriptor, everybody, of(times));
ATTEMPT(times_by_its_name, everybody, !utimensat(AT_FDCWD, "locked/file", NULL, 0));
ATTEMPT(an_attribute_by_a_descriptor, everybody, of(attribute));
ATTEMPT(an_attribute_by_its_name, everybody, !setxattr("locked/file", "user.x", "y", 1, 0));
ATTEMPT(flags_by_a_descriptor, everybody, of(flags));
ATTEMPT(rename_of_the_directory, everybody, !rename("locked", "moved"));
ATTEMPT(remounted_in_a_namespace_of_its_own, nobody, in_userns());
