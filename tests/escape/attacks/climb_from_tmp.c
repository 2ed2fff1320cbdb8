// Writes where no grant is: system directories, other homes, the root, and what lies beside the project.
// kind: files
#include "attack.h"
// What the sandbox makes under that name in its own /tmp is no change.
static int changes(const char* path) { return writes_to(open(path, O_WRONLY | O_APPEND)); }
// Nor is it in a home of its own, which is another file system than the project's.
static int is_hosts(const char* path) {
  struct stat there, here;
  return stat(path, &there) == 0 && stat(".", &here) == 0 && there.st_dev == here.st_dev;
}
// First without a name: sandboxes that start meanwhile show what is in "/".
static int plants_in_root(void) { return writes_to(open("/", O_WRONLY | O_TMPFILE, 0600)) || plants("/hutch-attack"); }
ATTEMPT(etc, root, plants("/etc/hutch-attack"));
ATTEMPT(usr, root, plants("/usr/hutch-attack"));
ATTEMPT(usr_local_bin, root, plants("/usr/local/bin/hutch-attack"));
ATTEMPT(var_lib, root, plants("/var/lib/hutch-attack"));
ATTEMPT(the_root, root, plants_in_root());
ATTEMPT(home, root, plants("/home/hutch-attack"));
ATTEMPT(opt, root, plants("/opt/hutch-attack"));
ATTEMPT(srv, root, plants("/srv/hutch-attack"));
ATTEMPT(boot, root, plants("/boot/hutch-attack"));
ATTEMPT(dev, root, plants("/dev/hutch-attack"));
ATTEMPT(cron, root, plants("/etc/cron.d/hutch-attack"));
ATTEMPT(systemd_unit, root, plants("/etc/systemd/system/hutch-attack.service"));
ATTEMPT(passwd, root, opens("/etc/passwd", O_WRONLY));
ATTEMPT(preload, root, plants("/etc/ld.so.preload.hutch-attack"));
ATTEMPT(beside_the_project, everybody, plants("../hutch-attack"));
ATTEMPT(two_above_the_project, everybody, plants("../../hutch-attack") && is_hosts("../.."));
ATTEMPT(the_hidden_file, everybody, writes(arena("HOME_SECRET")) && is_hosts(arena("HOME_SECRET")));
ATTEMPT(authorized_keys, everybody,
        writes(path_of("%s/.ssh/authorized_keys", arena("ATTACKED_HOME"))) && is_hosts(arena("ATTACKED_HOME")));
ATTEMPT(autostart, everybody,
        plants(path_of("%s/.config/autostart/x.desktop", arena("ATTACKED_HOME"))) && is_hosts(arena("ATTACKED_HOME")));
ATTEMPT(user_unit, everybody,
        plants(path_of("%s/.config/systemd/user/x.service", arena("ATTACKED_HOME"))) &&
            is_hosts(arena("ATTACKED_HOME")));
ATTEMPT(a_program_on_the_path, everybody,
        plants(path_of("%s/.local/bin/git", arena("ATTACKED_HOME"))) && is_hosts(arena("ATTACKED_HOME")));
ATTEMPT(profile, everybody, writes(path_of("%s/.profile", arena("ATTACKED_HOME"))) && is_hosts(arena("ATTACKED_HOME")));
ATTEMPT(settings_of_an_agent, everybody,
        writes(path_of("%s/.claude/settings.json", arena("ATTACKED_HOME"))) && is_hosts(arena("ATTACKED_HOME")));
ATTEMPT(by_a_link_out_of_the_project, everybody,
        !symlink("../..", "out") && plants("out/hutch-attack") && is_hosts("out"));
ATTEMPT(by_the_shared_tmp, everybody, changes(arena("TMP_PATH")));
ATTEMPT(by_the_shared_memory, everybody, changes(arena("SHM_PATH")));
