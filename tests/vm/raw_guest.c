// A virtual machine whose first program drives the file server's device itself: requests that no kernel would make.
//
// Installed in the place of hutch-guest, it is hutch-guest (REAL) everywhere but in the machine. What each request was
// answered it writes to the third directory, as "log", by such requests too; then it breaks the rings
// (virtio 1.1, 2.6).
#include <dirent.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { PAGE = 4096, QUEUES = 2, REQUESTS = 1, FILE_SYSTEM = 0x105a, SLOTS = 16 };

struct slot {
  uint64_t address;
  uint32_t size;
  uint16_t flags, next;
};
static struct queue {
  struct slot* slots;
  volatile uint16_t* offered;
  volatile uint16_t* used;
  volatile uint16_t* bell;
  uint16_t seen;
} queues[QUEUES];

static char device[256], log_text[20000];
static volatile uint8_t* common;
static volatile uint8_t* bells;
static uint32_t bell_step;
static uint8_t *request, *reply;
static uint64_t request_at, reply_at, unique;

#define FIELD(type, at) (*(volatile type*)(common + (at)))

// One page, and where it is for the device.
static void* page(uint64_t* address) {
  void* made = mmap(0, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE | MAP_LOCKED, -1, 0);
  uint64_t entry = 0;
  memset(made, 0, PAGE);
  const int map = open("/proc/self/pagemap", O_RDONLY);
  pread(map, &entry, sizeof(entry), (off_t)((uintptr_t)made / PAGE * 8));
  close(map);
  *address = (entry & ((1ULL << 55) - 1)) * PAGE;
  return made;
}

static int find_device(void) {
  DIR* all = opendir("/sys/bus/pci/devices");
  for (struct dirent* one; all && (one = readdir(all));) {
    char path[300], text[16] = {0};
    snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/device", one->d_name);
    const int file = open(path, O_RDONLY);
    if (file < 0 || read(file, text, sizeof(text) - 1) < 0) continue;
    close(file);
    if (strtol(text, NULL, 16) == FILE_SYSTEM) snprintf(device, sizeof(device), "/sys/bus/pci/devices/%s", one->d_name);
  }
  if (all) closedir(all);
  return device[0] != 0;
}

static void put_text(const char* name, const char* text) {
  char path[300];
  snprintf(path, sizeof(path), "%s/%s", device, name);
  const int file = open(path, O_WRONLY);
  if (file >= 0 && write(file, text, strlen(text)) < 0) perror(path);
  if (file >= 0) close(file);
}

static volatile uint8_t* region(int number) {
  char path[300];
  struct stat status;
  snprintf(path, sizeof(path), "%s/resource%d", device, number);
  const int file = open(path, O_RDWR);
  if (file < 0 || fstat(file, &status) != 0) return NULL;
  return mmap(0, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
}

static int take_device(void) {
  for (int tries = 0; tries < 2000 && !find_device(); ++tries) usleep(10000);
  if (device[0] == 0) return 0;
  put_text("driver/unbind", strrchr(device, '/') + 1);
  put_text("enable", "1");
  char path[300];
  uint8_t space[256];
  snprintf(path, sizeof(path), "%s/config", device);
  const int config = open(path, O_RDWR);
  if (pread(config, space, sizeof(space), 0) != sizeof(space)) return 0;
  const uint8_t master = space[4] | 6;
  pwrite(config, &master, 1, 4);
  for (unsigned at = space[0x34]; at != 0; at = space[at + 1]) {
    uint32_t offset, step;
    memcpy(&offset, space + at + 8, 4);
    memcpy(&step, space + at + 16, 4);
    if (space[at] != 9) continue;
    if (space[at + 3] == 1) common = region(space[at + 4]) + offset;
    if (space[at + 3] == 2) bells = region(space[at + 4]) + offset, bell_step = step;
  }
  return common != NULL && bells != NULL;
}

static void put_address(unsigned at, uint64_t address) {
  FIELD(uint32_t, at) = (uint32_t)address;
  FIELD(uint32_t, at + 4) = (uint32_t)(address >> 32);
}

static void reset(void) {
  FIELD(uint8_t, 20) = 0;
  while (FIELD(uint8_t, 20) != 0) usleep(1000);
  FIELD(uint8_t, 20) = 3;
  for (uint32_t half = 0; half < 2; ++half) {
    FIELD(uint32_t, 8) = half;
    FIELD(uint32_t, 12) = half;  // VIRTIO_F_VERSION_1 alone
  }
  FIELD(uint8_t, 20) = 11;
  for (uint16_t i = 0; i < QUEUES; ++i) {
    uint64_t slots, offered, used;
    FIELD(uint16_t, 22) = i;
    FIELD(uint16_t, 24) = SLOTS;
    FIELD(uint16_t, 26) = 0xffff;
    queues[i] = (struct queue){page(&slots), page(&offered), page(&used), NULL, 0};
    put_address(32, slots), put_address(40, offered), put_address(48, used);
    queues[i].bell = (volatile uint16_t*)(bells + FIELD(uint16_t, 30) * bell_step);
    FIELD(uint16_t, 28) = 1;
  }
  FIELD(uint8_t, 20) = 15;
}

// The bytes of an answer, or -1 where there is none.
static int exchange(uint32_t size) {
  struct queue* queue = &queues[REQUESTS];
  queue->slots[0] = (struct slot){request_at, size, 1, 1};
  queue->slots[1] = (struct slot){reply_at, PAGE, 2, 0};
  memset(reply, 0, PAGE);
  queue->offered[2 + queue->offered[1] % SLOTS] = 0;
  __sync_synchronize();
  ++queue->offered[1];
  __sync_synchronize();
  *queue->bell = REQUESTS;
  for (int tries = 0; tries < 4000; ++tries, usleep(1000)) {
    if (queue->used[1] == queue->seen) continue;
    ++queue->seen;
    return ((struct fuse_out_header*)reply)->error;
  }
  return 1;
}

// `first` and `second`: names, which follow the fixed part. The answer's error, 0 for none, 1 where none came.
static int ask(unsigned op, uint64_t node, const void* fixed, size_t size, const char* first, const char* second) {
  struct fuse_in_header head = {.opcode = op, .unique = ++unique, .nodeid = node, .uid = 1000, .gid = 1000, .pid = 1};
  size_t at = sizeof(head);
  memcpy(request + at, fixed, size);
  at += size;
  for (const char* const* name = (const char*[]){first, second, NULL}; *name != NULL; ++name) {
    memcpy(request + at, *name, strlen(*name) + 1);
    at += strlen(*name) + 1;
  }
  head.len = (uint32_t)at;
  memcpy(request, &head, sizeof(head));
  return exchange((uint32_t)at);
}

static void note(const char* what, int answer) {
  const size_t at = strlen(log_text);
  snprintf(log_text + at, sizeof(log_text) - at, "%s %d\n", what, -answer);
}

static uint64_t look_up(uint64_t node, const char* name) {
  note(name, ask(FUSE_LOOKUP, node, "", 0, name, NULL));
  return ((struct fuse_entry_out*)(reply + sizeof(struct fuse_out_header)))->nodeid;
}

static uint64_t create(uint64_t node, const char* name, uint32_t mode, uint64_t* handle) {
  const struct fuse_create_in how = {.flags = O_CREAT | O_RDWR, .mode = S_IFREG | mode};
  note(name, ask(FUSE_CREATE, node, &how, sizeof(how), name, NULL));
  const uint8_t* entry = reply + sizeof(struct fuse_out_header);
  memcpy(handle, entry + sizeof(struct fuse_entry_out), sizeof(*handle));
  return ((const struct fuse_entry_out*)entry)->nodeid;
}

static void climb(uint64_t home) {
  static const char* kNames[] = {"../..", "0/../../../etc/passwd", "/etc/passwd", "../new"};
  uint64_t handle;
  for (size_t i = 0; i < sizeof(kNames) / sizeof(*kNames); ++i) {
    look_up(1, kNames[i]);
    create(home, kNames[i], 0644, &handle);
    note("symlink", ask(FUSE_SYMLINK, home, "", 0, kNames[i], "/etc/passwd"));
  }
  const uint64_t above = look_up(home, "..");
  look_up(look_up(above, ".."), "etc");
  look_up(look_up(above, ".."), "usr");
  const struct fuse_getattr_in look = {0};
  int guessed = 0;
  for (uint64_t node = 16; node < 1000; ++node)
    guessed += ask(FUSE_GETATTR, node, &look, sizeof(look), NULL, NULL) == 0;
  note("guessed", -guessed);
  note("node -1", ask(FUSE_GETATTR, ~0ULL, &look, sizeof(look), NULL, NULL));
}

static void give_rights(uint64_t home, uint64_t other) {
  uint64_t handle;
  create(home, "made-setuid", 06755, &handle);
  const uint64_t mine = create(home, "mine", 0755, &handle);
  for (uint32_t bits = 2; bits < 8; ++bits) {
    const struct fuse_setattr_in by_name = {.valid = FATTR_MODE, .mode = S_IFREG | 0755 | bits << 9};
    note("mode", ask(FUSE_SETATTR, mine, &by_name, sizeof(by_name), NULL, NULL));
    const struct fuse_setattr_in by_file = {.valid = FATTR_MODE | FATTR_FH, .fh = handle, .mode = by_name.mode};
    note("mode of an open file", ask(FUSE_SETATTR, mine, &by_file, sizeof(by_file), NULL, NULL));
  }
  static const uint32_t kKinds[] = {S_IFCHR | 0666, S_IFBLK | 0666, S_IFREG | 06755};
  for (size_t i = 0; i < 3; ++i) {
    const struct fuse_mknod_in node = {.mode = kKinds[i], .rdev = (uint32_t)makedev(1, 3)};
    note("node", ask(FUSE_MKNOD, home, &node, sizeof(node), "node", NULL));
  }
  const struct fuse_mknod_in whiteout = {.mode = S_IFCHR};
  note("whiteout", ask(FUSE_MKNOD, home, &whiteout, sizeof(whiteout), "whiteout", NULL));
  const struct fuse_rename2_in leave = {.newdir = home, .flags = 4};
  note("rename with a whiteout", ask(FUSE_RENAME2, home, &leave, sizeof(leave), "mine", "moved"));
  const struct fuse_rename2_in exchange_shares = {.newdir = 1, .flags = 2};
  note("exchange", ask(FUSE_RENAME2, home, &exchange_shares, sizeof(exchange_shares), "mine", "1"));
  const struct fuse_link_in link = {mine};
  note("link", ask(FUSE_LINK, other, &link, sizeof(link), "hard", NULL));
  const struct fuse_setxattr_in attribute = {.size = 4};
  note("capability", ask(FUSE_SETXATTR, mine, &attribute, 8, "security.capability", "abc"));
  note("opaque", ask(FUSE_SETXATTR, mine, &attribute, 8, "trusted.overlay.opaque", "yyy"));
}

static void write_log(void) {
  uint64_t handle, node = look_up(1, "2");
  node = create(node, "log", 0644, &handle);
  for (size_t at = 0, size = strlen(log_text); at < size; at += 2000) {
    const size_t piece = size - at < 2000 ? size - at : 2000;
    const struct fuse_write_in how = {.fh = handle, .offset = at, .size = (uint32_t)piece};
    char bytes[sizeof(how) + 2000];
    memcpy(bytes, &how, sizeof(how));
    memcpy(bytes + sizeof(how), log_text + at, piece);
    ask(FUSE_WRITE, node, bytes, sizeof(how) + piece, NULL, NULL);
  }
}

static void break_rings(void) {
  const struct slot kChains[] = {
      {0xfffffffff000ULL, 40, 0, 0}, {request_at, 0xffffffff, 1, 60000}, {request_at, 40, 1, 0}};
  for (size_t i = 0; i < sizeof(kChains) / sizeof(*kChains); ++i) {
    reset();
    queues[REQUESTS].slots[0] = kChains[i];
    queues[REQUESTS].offered[1] = 1;
    *queues[REQUESTS].bell = REQUESTS;
    usleep(300000);
  }
}

static void be_machine(void) {
  mkdir("/dev", 0755), mkdir("/proc", 0755), mkdir("/sys", 0755);
  mount("dev", "/dev", "devtmpfs", 0, "");
  mount("proc", "/proc", "proc", 0, "");
  mount("sys", "/sys", "sysfs", 0, "");
  for (int each = 100; each < 200; ++each) {
    char path[64];
    snprintf(path, sizeof(path), "/modules/%d", each);
    const int module = open(path, O_RDONLY);
    if (module >= 0) syscall(SYS_finit_module, module, "", 0);
  }
  if (take_device()) {
    request = page(&request_at), reply = page(&reply_at);
    reset();
    const struct fuse_init_in hello = {.major = 7, .minor = 31, .max_readahead = 65536};
    ask(FUSE_INIT, 0, &hello, 16, NULL, NULL);
    const uint64_t home = look_up(1, "0"), other = look_up(1, "1");
    climb(home);
    give_rights(home, other);
    write_log();
    break_rings();
  }
  reboot(RB_POWER_OFF);
  for (;;) pause();
}

int main(int count, char** words, char** environment) {
  (void)count;
  if (getpid() == 1) be_machine();
  execve(REAL, words, environment);
  return 125;
}
