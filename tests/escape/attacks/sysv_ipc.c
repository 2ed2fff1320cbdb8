// Reads a message queue of the host's.
// none: succeeds
#include <sys/ipc.h>
#include <sys/msg.h>
#include "attack.h"
int main(void) {
  struct msqid_ds info;
  if (!msgctl(number("QUEUE_ID"), IPC_STAT, &info)) succeeded("msgctl");
  struct msginfo all;
  if (msgctl(0, 13 /* MSG_STAT_ANY */, (void*)&info) >= 0) succeeded("MSG_STAT_ANY");
  (void)all;
  held();
}
