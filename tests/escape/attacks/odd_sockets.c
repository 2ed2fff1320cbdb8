// Opens sockets that lead to the kernel, the hypervisor or the bare network.
// kind: kernel
#include "attack.h"
static int opened(int family, int type, int protocol) {
  if (socket(family, type, protocol) >= 0) return 1;
  return errno == EAFNOSUPPORT && is_unprotected() ? absent() : 0;
}
ATTEMPT(netlink_generic, everybody, opened(AF_NETLINK, SOCK_RAW, 16));
ATTEMPT(netlink_uevent, everybody, opened(AF_NETLINK, SOCK_RAW, 15));
ATTEMPT(netlink_netfilter, everybody, opened(AF_NETLINK, SOCK_RAW, 12));
ATTEMPT(netlink_audit, everybody, opened(AF_NETLINK, SOCK_RAW, 9));
ATTEMPT(netlink_sock_diag, everybody, opened(AF_NETLINK, SOCK_RAW, 4));
ATTEMPT(netlink_xfrm, everybody, opened(AF_NETLINK, SOCK_RAW, 6));
ATTEMPT(netlink_connector, everybody, opened(AF_NETLINK, SOCK_DGRAM, 11));
ATTEMPT(af_vsock, everybody, opened(AF_VSOCK, SOCK_STREAM, 0));
ATTEMPT(af_alg, everybody, opened(38 /* AF_ALG */, SOCK_SEQPACKET, 0));
ATTEMPT(af_packet, root, opened(AF_PACKET, SOCK_RAW, 0));
ATTEMPT(raw_icmp, root, opened(AF_INET, SOCK_RAW, 1));
ATTEMPT(raw_icmp6, root, opened(AF_INET6, SOCK_RAW, 58));
ATTEMPT(af_xdp, root, opened(44 /* AF_XDP */, SOCK_RAW, 0));
ATTEMPT(af_tipc, everybody, opened(30 /* AF_TIPC */, SOCK_STREAM, 0));
ATTEMPT(af_can, root, opened(29 /* AF_CAN */, SOCK_RAW, 1));
ATTEMPT(af_bluetooth, everybody, opened(31 /* AF_BLUETOOTH */, SOCK_STREAM, 3));
ATTEMPT(unix_datagram, everybody, opened(AF_UNIX, SOCK_DGRAM, 0));
