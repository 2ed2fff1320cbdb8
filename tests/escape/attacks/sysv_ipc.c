// Reads and changes System V and POSIX objects of the host's.
// kind: processes
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include "attack.h"
static int stat_queue(void) {
  struct msqid_ds info;
  return !msgctl(number("QUEUE_ID"), IPC_STAT, &info);
}
static int any_queue(void) {
  struct msqid_ds info;
  for (int index = 0; index < 32000; index++)
    if (msgctl(index, 13 /* MSG_STAT_ANY */, (void*)&info) >= 0) return 1;
  return 0;
}
static int sends(void) {
  struct {
    long type;
    char text[1];
  } message = {1, "x"};
  return !msgsnd(number("QUEUE_ID"), &message, 1, IPC_NOWAIT);
}
static int attaches(void) {
  char* memory = shmat(number("MEMORY_ID"), NULL, 0);
  return memory != (void*)-1 && strstr(memory, arena("SECRET_WORD")) != NULL;
}
static int counts(void) { return semctl(number("SEMAPHORE_ID"), 0, GETVAL) >= 0; }
ATTEMPT(state_of_a_queue, everybody, stat_queue());
ATTEMPT(any_queue, everybody, any_queue());
ATTEMPT(a_message, everybody, sends());
ATTEMPT(shared_memory, everybody, attaches());
ATTEMPT(semaphores, everybody, counts());
ATTEMPT(removal_of_a_queue, everybody, !msgctl(number("QUEUE_ID"), IPC_RMID, NULL));
