// Opens sockets that lead to the kernel or the hypervisor.
// none: succeeds
#include "attack.h"
int main(void) {
  if (socket(AF_NETLINK, SOCK_RAW, 16) >= 0) succeeded("NETLINK_GENERIC");
  if (socket(AF_NETLINK, SOCK_RAW, 15) >= 0) succeeded("NETLINK_KOBJECT_UEVENT");
  if (socket(AF_NETLINK, SOCK_RAW, 12) >= 0) succeeded("NETLINK_NETFILTER");
  if (socket(AF_VSOCK, SOCK_STREAM, 0) >= 0) succeeded("AF_VSOCK");
  if (socket(38 /* AF_ALG */, SOCK_SEQPACKET, 0) >= 0) succeeded("AF_ALG");
  if (socket(AF_PACKET, SOCK_RAW, 0) >= 0) succeeded("AF_PACKET");
  if (socket(AF_INET, SOCK_RAW, 1) >= 0) succeeded("raw");
  held();
}
