// A virtual machine whose first program is not hutch's, and which speaks to the host as that does, but lies.
//
// Installed in the place of hutch-guest, it is hutch-guest (REAL) everywhere but in the machine. There it takes the
// plan, and what it says of the command "attack:NAME" is NAME.
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// src/wire/channels.h, src/wire/message.h: the indices of the alternatives.
enum { OPENED, DATA, CREDIT, END, STOP, CLOCK = 6, HEARD };
enum {
  SPAWNED,
  READY,
  FAILED,
  STARTED,
  NOT_EXECUTED,
  STOPPED = 6,
  EXITED,
  REFUSED,
  NETWORK,
  SUPERVISE = 11,
  SOCKET_ASKED,
  UNMAPPED,
  HEEDED = 17
};
enum { SINK = 2, SOCKET, TERMINAL };
enum { START_BYTES = 83, GUEST = 2, PIECE = 30000 };

struct bytes {
  char* at;
  size_t size;
};

static int port = -1;
static struct bytes heard, said_to_guest;
static char attack[32];
static uint32_t printed, next = 1;
static size_t credit = 256 << 10;

static void add(struct bytes* to, const void* from, size_t size) {
  to->at = realloc(to->at, to->size + size + 1);
  memcpy(to->at + to->size, from, size);
  to->size += size;
}

static void number(struct bytes* to, uint64_t value, size_t size) { add(to, &value, size); }

static void text(struct bytes* to, const void* from, size_t size) {
  number(to, size, 4);
  add(to, from, size);
}

static struct bytes framed(unsigned type, struct bytes body) {
  struct bytes frame = {0};
  number(&frame, body.size, 4);
  number(&frame, type, 4);
  add(&frame, body.at, body.size);
  free(body.at);
  return frame;
}

static void tell(unsigned type, struct bytes body) {
  const struct bytes frame = framed(type, body);
  for (size_t done = 0; done < frame.size;) {
    const ssize_t count = write(port, frame.at + done, frame.size - done);
    struct pollfd wait = {port, POLLOUT, 0};
    if (count > 0)
      done += (size_t)count;
    else
      poll(&wait, 1, 100);
  }
  free(frame.at);
}

static void about(unsigned type, uint32_t channel, const uint32_t* more, size_t count) {
  struct bytes body = {0};
  number(&body, channel, 4);
  for (size_t i = 0; i < count; ++i) number(&body, more[i], 4);
  tell(type, body);
}

static void data(uint32_t channel, const void* from, size_t size) {
  struct bytes body = {0};
  number(&body, channel, 4);
  text(&body, from, size);
  tell(DATA, body);
}

static void open_channel(unsigned kind) {
  struct bytes body = {0};
  number(&body, next, 4);
  number(&body, GUEST, 4);
  number(&body, kind, 1);
  tell(OPENED, body);
  next += 2;
}

static void hear(int wait_ms);

// As the guest, within the credit that there is.
static void say(unsigned type, struct bytes body) {
  const struct bytes frame = framed(type, body);
  for (size_t done = 0; done < frame.size;) {
    const size_t size = frame.size - done < PIECE ? frame.size - done : PIECE;
    while (credit < size) hear(50);
    data(GUEST, frame.at + done, size);
    credit -= size;
    done += size;
    hear(0);
  }
  free(frame.at);
}

static void take(unsigned type, const char* body, uint32_t size) {
  uint32_t channel = 0, value = 0;
  const struct bytes none = {0};
  if (size >= 4) memcpy(&channel, body, 4);
  if (size >= 8) memcpy(&value, body + 4, 4);
  if (type == OPENED && body[8] == SINK && printed == 0) printed = channel;
  if (type == CLOCK) tell(HEARD, none);
  if (type == CREDIT && channel == GUEST) credit += value;
  if (type != DATA || channel != GUEST) return;
  const int is_first = said_to_guest.size == 0;
  add(&said_to_guest, body + 8, size - 8);
  const char* word = memmem(said_to_guest.at, said_to_guest.size, "attack:", 7);
  if (word != NULL && attack[0] == 0) {
    for (size_t i = 0; i + 1 < sizeof(attack) && word[7 + i] >= 'a' && word[7 + i] <= 'z'; ++i) attack[i] = word[7 + i];
    if (strcmp(attack, "silent") == 0) return;
  }
  value = size - 8;
  about(CREDIT, GUEST, &value, 1);
  if (is_first) say(READY, none);
}

static void hear(int wait_ms) {
  static char bytes[65536];
  struct pollfd wait = {port, POLLIN, 0};
  if (poll(&wait, 1, wait_ms) <= 0) return;
  const ssize_t count = read(port, bytes, sizeof(bytes));
  if (count <= 0) return (void)usleep(1000);
  add(&heard, bytes, (size_t)count);
  for (uint32_t size = 0; heard.size >= 8; heard.size -= 8 + size) {
    memcpy(&size, heard.at, 4);
    if (heard.size - 8 < size) return;
    char* body = malloc(size + 16);
    const unsigned type = (unsigned char)heard.at[4];
    memcpy(body, heard.at + 8, size);
    memmove(heard.at, heard.at + 8 + size, heard.size - 8 - size);
    heard.size -= 8 + size;
    take(type, body, size);
    free(body);
    heard.size += 8 + size;
  }
}

static void stay(void) {
  for (;;) hear(1000);
}

static void refuse(unsigned call, const char* path, size_t size) {
  struct bytes body = {0};
  number(&body, call, 1);
  number(&body, 1, 4);
  text(&body, path, size);
  text(&body, "rule", 4);
  number(&body, 1, 1);
  text(&body, "", 0);
  say(REFUSED, body);
}

// Each of them different, and none short.
static void flood(unsigned type) {
  static char path[60000];
  memset(path, 'a', sizeof(path));
  for (unsigned round = 0; round < 100000; ++round) {
    path[snprintf(path, 16, "%u", round)] = 'a';
    struct bytes body = {0};
    if (type == REFUSED) {
      refuse(2 + round % 2, path, sizeof(path));
      continue;
    }
    number(&body, 0, 4);
    number(&body, 2, 4);
    text(&body, path, 200);
    say(type, body);
  }
}

// Channels that end before anybody takes what stands for them: behind output that nobody reads.
static void pile(unsigned kind) {
  static const char output[PIECE];
  for (int i = 0; i < 6; ++i) data(printed, output, sizeof(output));
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < 64; ++i) {
      const uint32_t channel = next;
      open_channel(kind);
      about(STOP, channel, NULL, 0);
      about(END, channel, NULL, 0);
    }
    data(GUEST, "", 1);
  }
}

static void alien(void) {
  struct bytes body = {0};
  number(&body, 1, 4);
  say(SPAWNED, body);
  say(UNMAPPED, (struct bytes){0});
  struct bytes asked = {0};
  number(&asked, 7, 8);
  number(&asked, 1, 4);
  text(&asked, "/run/docker.sock", 16);
  number(&asked, 0, 4);
  say(SOCKET_ASKED, asked);
  say(HEEDED, (struct bytes){0});
  struct bytes end = {0};
  number(&end, 0, 4);
  number(&end, 3 << 8, 4);
  say(EXITED, end);
  about(END, GUEST, NULL, 0);
}

// More than a pipe holds; then it ends as usual.
static void write_console(void) {
  static const char line[] = "The quick brown fox jumps over the lazy dog: 0123456789 0123456\n";
  const int console = open("/dev/console", O_WRONLY | O_NOCTTY);
  for (int i = 0; console >= 0 && i < 1500; ++i) write(console, line, sizeof(line) - 1);
  alien();
}

static void lie(void) {
  struct bytes command = {0};
  if (strcmp(attack, "silent") == 0) pause();
  number(&command, 0, 8);
  say(STARTED, command);
  struct bytes again = {0};
  number(&again, 0, 4);
  if (strcmp(attack, "stopped") == 0) say(STOPPED, again);
  if (strcmp(attack, "remarks") == 0) flood(REFUSED);
  if (strcmp(attack, "absent") == 0) flood(NOT_EXECUTED);
  if (strcmp(attack, "terminals") == 0) pile(TERMINAL);
  if (strcmp(attack, "sockets") == 0) pile(SOCKET);
  if (strcmp(attack, "alien") == 0) alien();
  if (strcmp(attack, "console") == 0) write_console();
  if (strcmp(attack, "supervisor") == 0) {
    for (int i = 0; i < 4; ++i) open_channel(SOCKET);
    say(SUPERVISE, (struct bytes){0});
  }
  if (strcmp(attack, "network") == 0) {
    open_channel(SOCKET);
    struct bytes body = {0};
    number(&body, 1, 4);
    number(&body, 4, 1);
    number(&body, 22, 2);
    text(&body, "", 0);
    say(NETWORK, body);
  }
  stay();
}

static void be_machine(void) {
  mkdir("/dev", 0755), mkdir("/proc", 0755);
  mount("dev", "/dev", "devtmpfs", 0, "");
  mount("proc", "/proc", "proc", 0, "");
  for (int each = 100; each < 200; ++each) {
    char path[64];
    snprintf(path, sizeof(path), "/modules/%d", each);
    const int module = open(path, O_RDONLY);
    if (module >= 0) syscall(SYS_finit_module, module, "", 0);
  }
  for (int tries = 0; tries < 1000 && port < 0; ++tries, usleep(10000)) {
    DIR* devices = opendir("/dev");
    for (struct dirent* one; devices && (one = readdir(devices));) {
      char path[300];
      snprintf(path, sizeof(path), "/dev/%s", one->d_name);
      if (strncmp(one->d_name, "vport", 5) == 0) port = open(path, O_RDWR | O_NONBLOCK);
    }
    if (devices) closedir(devices);
  }
  for (char start[START_BYTES], *to = start; to < start + sizeof(start);) {
    const ssize_t count = read(port, to, (size_t)(start + sizeof(start) - to));
    if (count > 0)
      to += count;
    else
      usleep(2000);
  }
  while (attack[0] == 0) hear(100);
  lie();
}

int main(int count, char** words, char** environment) {
  (void)count;
  if (getpid() == 1) be_machine();
  execve(REAL, words, environment);
  return 125;
}
