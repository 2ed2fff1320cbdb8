// Reads what --deny-read hides in the project.
// kind: files
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <dirent.h>
#include "attack.h"
static int copied(int from) {
  int to = memfd_create("copy", 0);
  return from >= 0 && sendfile(to, from, NULL, 4096) > 0 && lseek(to, 0, SEEK_SET) == 0 && holds_secret(to);
}
static int mapped(void) {
  int fd = open("denied-file", O_RDONLY);
  if (fd < 0) return 0;
  char* text = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
  return text != MAP_FAILED && strstr(text, arena("SECRET_WORD")) != NULL;
}
static int listed(const char* directory) {
  DIR* opened = opendir(directory);
  for (struct dirent* entry; opened && (entry = readdir(opened));)
    if (!strcmp(entry->d_name, "secret")) return 1;
  return 0;
}
static int opened_beneath(const char* path, unsigned long long resolve) {
  struct {
    unsigned long long flags, mode, resolve;
  } how = {O_RDONLY, 0, resolve};
  int top = open(".", O_PATH);
  return holds_secret(syscall(437 /* openat2 */, top, path, &how, sizeof how));
}
static int by_a_thread(void) {
  return reads_secret("/proc/thread-self/cwd/denied/secret") ||
         reads_secret("/proc/thread-self/root/proc/self/cwd/denied-file");
}
ATTEMPT(directly, everybody, reads_secret("denied/secret"));
ATTEMPT(the_file_directly, everybody, reads_secret("denied-file"));
ATTEMPT(round_about, everybody, reads_secret("./locked/../denied/secret"));
ATTEMPT(through_proc_self, everybody, reads_secret("/proc/self/cwd/denied/secret"));
ATTEMPT(through_proc_thread, everybody, by_a_thread());
ATTEMPT(through_proc_root, everybody,
        reads_secret(path_of("/proc/self/root%s/denied/secret", get_current_dir_name())));
ATTEMPT(by_a_hard_link, everybody, !link("denied-file", "other") && reads_secret("other"));
ATTEMPT(by_a_symbolic_link, everybody, !symlink("denied", "link") && reads_secret("link/secret"));
ATTEMPT(by_a_chain_of_links, everybody,
        !symlink("second", "first") && !symlink("denied-file", "second") && reads_secret("first"));
ATTEMPT(after_a_rename, everybody, !rename("denied", "moved") && reads_secret("moved/secret"));
ATTEMPT(after_a_rename_of_the_file, everybody, !rename("denied-file", "moved") && reads_secret("moved"));
ATTEMPT(after_an_exchange, everybody,
        !mkdir("spare", 0755) &&
            !syscall(SYS_renameat2, AT_FDCWD, "denied", AT_FDCWD, "spare", 2 /* RENAME_EXCHANGE */) &&
            reads_secret("spare/secret"));
ATTEMPT(after_umount, everybody, (umount2("denied", MNT_DETACH), reads_secret("denied/secret")));
ATTEMPT(after_chdir, everybody, !chdir("denied") && reads_secret("secret"));
ATTEMPT(by_a_descriptor_of_the_directory, everybody,
        holds_secret(openat(open("denied", O_PATH | O_DIRECTORY), "secret", O_RDONLY)));
ATTEMPT(by_a_descriptor_opened_again, everybody,
        reads_secret(path_of("/proc/self/fd/%d", open("denied-file", O_PATH))));
ATTEMPT(by_a_link_of_a_descriptor, everybody,
        !linkat(AT_FDCWD, path_of("/proc/self/fd/%d", open("denied-file", O_PATH)), AT_FDCWD, "other",
                AT_SYMLINK_FOLLOW) &&
            reads_secret("other"));
ATTEMPT(by_openat2_in_a_root, everybody, opened_beneath("/denied/secret", 0x10 /* RESOLVE_IN_ROOT */));
ATTEMPT(by_openat2_beneath, everybody, opened_beneath("denied/secret", 0x08 /* RESOLVE_BENEATH */));
ATTEMPT(by_sendfile, everybody, copied(open("denied-file", O_RDONLY)));
ATTEMPT(by_a_mapping, everybody, mapped());
ATTEMPT(by_running_cat, everybody, !system("grep -rqs \"$SECRET_WORD\" denied denied-file"));
ATTEMPT(by_a_new_mode, everybody, !chmod("denied-file", 0644) && reads_secret("denied-file"));
ATTEMPT(names_in_the_directory, everybody, listed("denied"));
ATTEMPT(names_by_way_of_proc, everybody, listed("/proc/self/cwd/denied"));
