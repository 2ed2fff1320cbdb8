// Reads a file of the hidden home, or of what lies beside the project.
// kind: files
// none: cannot; no backend passes a directory on
#include <dirent.h>
#include "attack.h"
static const char* secret(void) { return arena("HOME_SECRET"); }
static int by_climbing(void) {
  int up = open("..", O_PATH), top = openat(up, "..", O_PATH);
  return holds_secret(openat(top, "secret", O_RDONLY));
}
static int after_chdir(void) {
  for (int i = 0; i < 3; i++)
    if (reads_secret("secret") || chdir("..")) break;
  return reads_secret("secret");
}
static int by_every_working_directory(void) {
  DIR* all = opendir("/proc");
  for (struct dirent* entry; all && (entry = readdir(all));)
    if (atoi(entry->d_name) > 0 && (reads_secret(path_of("/proc/%s/cwd/../../secret", entry->d_name)) ||
                                    reads_secret(path_of("/proc/%s/root%s", entry->d_name, secret()))))
      return 1;
  return 0;
}
static int by_every_descriptor(void) {
  for (int fd = 0; fd < 1024; fd++)
    if (reads_secret(path_of("/proc/self/fd/%d/%s", fd, secret())) ||
        reads_secret(path_of("/proc/self/fd/%d/../../secret", fd)))
      return 1;
  return 0;
}
// Numbers of inodes are counted upwards: a handle is tried for each file of the project's directory.
static int by_handle(void) {
  struct {
    struct file_handle head;
    unsigned char bytes[128];
  } handle = {.head = {.handle_bytes = 128}};
  int id = 0, top = open(".", O_RDONLY | O_DIRECTORY);
  if (name_to_handle_at(AT_FDCWD, "denied-file", &handle.head, &id, 0)) return 0;
  return holds_secret(open_by_handle_at(top, &handle.head, O_RDONLY));
}
ATTEMPT(by_its_path, everybody, reads_secret(secret()));
ATTEMPT(by_proc_self_root, everybody, reads_secret(path_of("/proc/self/root%s", secret())));
ATTEMPT(by_proc_self_root_twice, everybody, reads_secret(path_of("/proc/self/root/proc/self/root%s", secret())));
ATTEMPT(by_the_root_of_the_first_process, root, reads_secret(path_of("/proc/1/root%s", secret())));
#define TO_THE_TOP "/../../../../../../../../../../../.."
ATTEMPT(by_the_cwd_of_the_first_process, root, reads_secret(path_of("/proc/1/cwd" TO_THE_TOP "%s", secret())));
ATTEMPT(by_the_cwd_of_itself, everybody,
        reads_secret(path_of("/proc/self/cwd/../../../../../../../../..%s", secret())));
ATTEMPT(by_the_root_of_its_parent, everybody, reads_secret(path_of("/proc/%d/root%s", getppid(), secret())));
ATTEMPT(by_more_slashes, everybody, reads_secret(path_of("/..//./%s", secret())));
ATTEMPT(from_the_project_upwards, everybody, reads_secret("../../secret"));
ATTEMPT(by_a_descriptor_of_an_ancestor, everybody, by_climbing());
ATTEMPT(after_chdir_upwards, everybody, after_chdir());
ATTEMPT(by_a_symbolic_link, everybody, !symlink(secret(), "out") && reads_secret("out"));
ATTEMPT(by_a_relative_link, everybody, !symlink("../../secret", "out") && reads_secret("out"));
ATTEMPT(by_a_link_to_the_root, everybody, !symlink("/", "out") && reads_secret(path_of("out%s", secret())));
ATTEMPT(by_a_hard_link, everybody, !link(secret(), "hard") && reads_secret("hard"));
ATTEMPT(by_moving_it_here, everybody, !rename(secret(), "moved") && (rename("moved", secret()) || 1));
ATTEMPT(by_every_working_directory, everybody, by_every_working_directory());
ATTEMPT(by_every_descriptor, nobody, by_every_descriptor());
ATTEMPT(of_the_sibling_with_the_same_beginning, everybody, reads_secret(arena("SIBLING_SECRET")));
ATTEMPT(of_the_sibling_by_a_link, everybody,
        !symlink(arena("SIBLING_SECRET"), "out") && reads_secret("out"));
ATTEMPT(ssh_key, everybody, reads_secret(path_of("%s/.ssh/id_ed25519", arena("ATTACKED_HOME"))));
ATTEMPT(aws_credentials, everybody, reads_secret(path_of("%s/.aws/credentials", arena("ATTACKED_HOME"))));
ATTEMPT(docker_token, everybody, reads_secret(path_of("%s/.docker/config.json", arena("ATTACKED_HOME"))));
ATTEMPT(bash_history, everybody, reads_secret(path_of("%s/.bash_history", arena("ATTACKED_HOME"))));
ATTEMPT(credentials_of_an_agent, everybody,
        reads_secret(path_of("%s/.claude/.credentials.json", arena("ATTACKED_HOME"))));
ATTEMPT(browser_passwords, everybody,
        reads_secret(path_of("%s/.mozilla/firefox/x.default/logins.json", arena("ATTACKED_HOME"))));
ATTEMPT(the_file_of_another_by_a_handle, root, by_handle());
