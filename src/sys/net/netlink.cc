// Netlink: addresses, routes and rules of a network namespace.
#include "sys/net/netlink.h"

// Before the kernel's own headers, which then leave out what it has defined.
#include <netinet/in.h>

#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>

#include <array>
#include <climits>

#include "sys/call.h"
#include "sys/net/netlink_message.h"

namespace hutch::sys {

namespace {

// Of the family, for rules that hold for both kinds of addresses.
constexpr std::uint8_t kFamilyInet = NFPROTO_INET;
constexpr char kTable[] = "hutch";
constexpr char kUsersTable[] = "hutch-users";
constexpr char kRedirectChain[] = "redirect";
constexpr char kOutChain[] = "out";
constexpr std::uint16_t kDnsPort = 53;

// The interface that every network namespace begins with.
constexpr std::uint32_t kLoopbackIndex = 1;

// Where a packet's fields are.
constexpr std::uint32_t kV4Destination = 16;
constexpr std::uint32_t kV6Destination = 24;
constexpr std::uint32_t kPortDestination = 2;

Status exchange(int protocol, NetlinkMessages& messages);
Status read_answers(int socket, std::uint32_t last);
std::uint8_t address_family(const IpAddress& address);
std::uint8_t address_bytes(const IpAddress& address);

// The rules of one table, each a list of expressions.
class RuleWriter {
 public:
  explicit RuleWriter(NetlinkMessages& out, const char* table_name = kTable) : out_(out), table_(table_name) {}

  void batch_begin() { out_.begin(NFNL_MSG_BATCH_BEGIN, 0, batch_header()); }
  void batch_end() { out_.begin(NFNL_MSG_BATCH_END, 0, batch_header()); }
  void table(std::uint16_t flags = NLM_F_EXCL);
  void remove_table();
  void chain(const char* name, const char* type, std::int32_t priority, std::uint32_t policy);

  // Between these, the expressions of a rule; `flags` of its message.
  void begin_rule(const char* chain, std::uint16_t flags = 0);
  void end_rule() { out_.close_nested(expressions_); }

  void if_protocol(std::uint8_t protocol) { if_meta(NFT_META_L4PROTO, protocol); }
  void if_port(std::uint16_t port);
  void if_destination(const IpAddress& address, std::size_t bytes);
  void if_user(std::uint32_t user);
  void if_over_loopback();
  void accept() { verdict(NF_ACCEPT); }
  void drop() { verdict(NF_DROP); }
  void redirect_same_port() {
    expression("redir", [] {});
  }
  void redirect(std::uint16_t port);

 private:
  static nfgenmsg batch_header() { return {AF_UNSPEC, NFNETLINK_V0, __builtin_bswap16(NFNL_SUBSYS_NFTABLES)}; }
  static std::uint16_t type(int message) { return static_cast<std::uint16_t>(NFNL_SUBSYS_NFTABLES << 8 | message); }
  static nfgenmsg header() { return {kFamilyInet, NFNETLINK_V0, 0}; }
  void if_meta(std::uint32_t key, const void* value, std::size_t size);
  void if_meta(std::uint32_t key, std::uint8_t value) { if_meta(key, &value, sizeof value); }
  void verdict(std::uint32_t code);
  void if_payload(std::uint32_t base, std::uint32_t offset, const void* value, std::size_t size);
  void compare(const void* value, std::size_t size);
  template <class Body>
  void expression(const char* name, Body body) {
    const std::size_t element = out_.open_nested(NFTA_LIST_ELEM);
    out_.text(NFTA_EXPR_NAME, name);
    const std::size_t data = out_.open_nested(NFTA_EXPR_DATA);
    body();
    out_.close_nested(data);
    out_.close_nested(element);
  }

  NetlinkMessages& out_;
  const char* table_;
  std::size_t expressions_ = 0;
};

void leave_own_alone(RuleWriter& rules, const char* chain, const Redirect& redirect);

}  // namespace

Status add_loopback_route(const IpAddress& own) {
  NetlinkMessages messages;
  ifaddrmsg address{};
  address.ifa_family = address_family(own);
  address.ifa_prefixlen = static_cast<std::uint8_t>(address_bytes(own) * CHAR_BIT);
  address.ifa_index = kLoopbackIndex;
  // No other host is there to have the address already (RFC 4862 5.4), and waiting for that would cost a second.
  address.ifa_flags = own.family == IpFamily::kV6 ? IFA_F_NODAD : 0;
  messages.begin(RTM_NEWADDR, NLM_F_CREATE | NLM_F_ACK, address);
  messages.attribute(IFA_LOCAL, own.bytes.data(), address_bytes(own));
  messages.attribute(IFA_ADDRESS, own.bytes.data(), address_bytes(own));
  rtmsg route{};
  route.rtm_family = address_family(own);
  route.rtm_table = RT_TABLE_MAIN;
  route.rtm_protocol = RTPROT_STATIC;
  route.rtm_scope = own.family == IpFamily::kV4 ? RT_SCOPE_LINK : RT_SCOPE_UNIVERSE;
  route.rtm_type = RTN_UNICAST;
  messages.begin(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_ACK, route);
  messages.attribute(RTA_OIF, &kLoopbackIndex, sizeof kLoopbackIndex);
  if (own.family == IpFamily::kV4) messages.attribute(RTA_PREFSRC, own.bytes.data(), address_bytes(own));
  TRY_CTX(exchange(NETLINK_ROUTE, messages), cat({"netlink(address and default route ", to_string(own), ")"}));
  return {};
}

Status add_redirect(const Redirect& redirect) {
  NetlinkMessages messages;
  RuleWriter rules(messages);
  rules.batch_begin();
  rules.table();
  rules.chain(kRedirectChain, "nat", -100, NF_ACCEPT);
  rules.chain(kOutChain, "filter", 0, NF_DROP);
  for (const std::uint8_t protocol : {std::uint8_t{IPPROTO_UDP}, std::uint8_t{IPPROTO_TCP}}) {
    rules.begin_rule(kRedirectChain);
    rules.if_protocol(protocol);
    rules.if_port(kDnsPort);
    rules.redirect_same_port();
    rules.end_rule();
  }
  for (const Redirect::Udp& udp : redirect.udp) {
    rules.begin_rule(kRedirectChain);
    rules.if_protocol(IPPROTO_UDP);
    rules.if_destination(udp.address, address_bytes(udp.address));
    rules.if_port(udp.port);
    rules.redirect(udp.arrives_at);
    rules.end_rule();
  }
  leave_own_alone(rules, kRedirectChain, redirect);
  rules.begin_rule(kRedirectChain);
  rules.if_protocol(IPPROTO_TCP);
  rules.redirect(redirect.tcp_port);
  rules.end_rule();
  // What was redirected goes to the loopback by now; all else is dropped.
  leave_own_alone(rules, kOutChain, redirect);
  rules.batch_end();
  TRY_CTX(exchange(NETLINK_NETFILTER, messages), "netlink(nftables rules)");
  return {};
}

// The table is there for a moment first, so that removing it cannot fail.
Status deny_users(std::span<const std::uint32_t> users, std::span<const std::uint16_t> ports) {
  NetlinkMessages messages;
  RuleWriter rules(messages, kUsersTable);
  rules.batch_begin();
  rules.table(0);
  rules.remove_table();
  if (!users.empty()) {
    rules.table();
    rules.chain(kOutChain, "filter", 0, NF_ACCEPT);
  }
  for (const std::uint32_t user : users) {
    for (const std::uint16_t port : ports) {
      rules.begin_rule(kOutChain);
      rules.if_user(user);
      rules.if_over_loopback();
      rules.if_protocol(IPPROTO_TCP);
      rules.if_port(port);
      rules.accept();
      rules.end_rule();
    }
    rules.begin_rule(kOutChain, NLM_F_ACK);
    rules.if_user(user);
    rules.drop();
    rules.end_rule();
  }
  rules.batch_end();
  TRY_CTX(exchange(NETLINK_NETFILTER, messages), "netlink(nftables rules for users)");
  return {};
}

namespace {

void leave_own_alone(RuleWriter& rules, const char* chain, const Redirect& redirect) {
  const auto leave = [&](const IpAddress& address, std::size_t bytes) {
    rules.begin_rule(chain, NLM_F_ACK);
    rules.if_destination(address, bytes);
    rules.accept();
    rules.end_rule();
  };
  leave(IpAddress::v4(127, 0, 0, 0), 1);
  leave(*parse_ip("::1"), 16);
  for (const IpAddress& address : redirect.own) leave(address, address_bytes(address));
}

void RuleWriter::table(std::uint16_t flags) {
  out_.begin(type(NFT_MSG_NEWTABLE), static_cast<std::uint16_t>(NLM_F_CREATE | flags), header());
  out_.text(NFTA_TABLE_NAME, table_);
}

void RuleWriter::remove_table() {
  out_.begin(type(NFT_MSG_DELTABLE), NLM_F_ACK, header());
  out_.text(NFTA_TABLE_NAME, table_);
}

void RuleWriter::chain(const char* name, const char* chain_type, std::int32_t priority, std::uint32_t policy) {
  out_.begin(type(NFT_MSG_NEWCHAIN), NLM_F_CREATE | NLM_F_EXCL, header());
  out_.text(NFTA_CHAIN_TABLE, table_);
  out_.text(NFTA_CHAIN_NAME, name);
  const std::size_t hook = out_.open_nested(NFTA_CHAIN_HOOK);
  out_.be32(NFTA_HOOK_HOOKNUM, NF_INET_LOCAL_OUT);
  out_.be32(NFTA_HOOK_PRIORITY, static_cast<std::uint32_t>(priority));
  out_.close_nested(hook);
  out_.be32(NFTA_CHAIN_POLICY, policy);
  out_.text(NFTA_CHAIN_TYPE, chain_type);
}

void RuleWriter::begin_rule(const char* chain, std::uint16_t flags) {
  out_.begin(type(NFT_MSG_NEWRULE), static_cast<std::uint16_t>(NLM_F_CREATE | NLM_F_APPEND | flags), header());
  out_.text(NFTA_RULE_TABLE, table_);
  out_.text(NFTA_RULE_CHAIN, chain);
  expressions_ = out_.open_nested(NFTA_RULE_EXPRESSIONS);
}

// Of the socket that a packet is from; what is nobody's socket is not matched.
void RuleWriter::if_user(std::uint32_t user) { if_meta(NFT_META_SKUID, &user, sizeof user); }

void RuleWriter::if_over_loopback() { if_meta(NFT_META_OIF, &kLoopbackIndex, sizeof kLoopbackIndex); }

void RuleWriter::if_meta(std::uint32_t key, const void* value, std::size_t size) {
  expression("meta", [&] {
    out_.be32(NFTA_META_DREG, NFT_REG_1);
    out_.be32(NFTA_META_KEY, key);
  });
  compare(value, size);
}

void RuleWriter::if_payload(std::uint32_t base, std::uint32_t offset, const void* value, std::size_t size) {
  expression("payload", [&] {
    out_.be32(NFTA_PAYLOAD_DREG, NFT_REG_1);
    out_.be32(NFTA_PAYLOAD_BASE, base);
    out_.be32(NFTA_PAYLOAD_OFFSET, offset);
    out_.be32(NFTA_PAYLOAD_LEN, static_cast<std::uint32_t>(size));
  });
  compare(value, size);
}

void RuleWriter::if_destination(const IpAddress& address, std::size_t bytes) {
  const bool v4 = address.family == IpFamily::kV4;
  if_meta(NFT_META_NFPROTO, v4 ? NFPROTO_IPV4 : NFPROTO_IPV6);
  if_payload(NFT_PAYLOAD_NETWORK_HEADER, v4 ? kV4Destination : kV6Destination, address.bytes.data(), bytes);
}

void RuleWriter::if_port(std::uint16_t port) {
  const std::uint16_t port_be = __builtin_bswap16(port);
  if_payload(NFT_PAYLOAD_TRANSPORT_HEADER, kPortDestination, &port_be, sizeof port_be);
}

void RuleWriter::compare(const void* value, std::size_t size) {
  expression("cmp", [&] {
    out_.be32(NFTA_CMP_SREG, NFT_REG_1);
    out_.be32(NFTA_CMP_OP, NFT_CMP_EQ);
    const std::size_t data = out_.open_nested(NFTA_CMP_DATA);
    out_.attribute(NFTA_DATA_VALUE, value, size);
    out_.close_nested(data);
  });
}

void RuleWriter::verdict(std::uint32_t code) {
  expression("immediate", [&] {
    out_.be32(NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
    const std::size_t data = out_.open_nested(NFTA_IMMEDIATE_DATA);
    const std::size_t nested = out_.open_nested(NFTA_DATA_VERDICT);
    out_.be32(NFTA_VERDICT_CODE, code);
    out_.close_nested(nested);
    out_.close_nested(data);
  });
}

void RuleWriter::redirect(std::uint16_t port) {
  const std::uint16_t port_be = __builtin_bswap16(port);
  expression("immediate", [&] {
    out_.be32(NFTA_IMMEDIATE_DREG, NFT_REG_1);
    const std::size_t data = out_.open_nested(NFTA_IMMEDIATE_DATA);
    out_.attribute(NFTA_DATA_VALUE, &port_be, sizeof port_be);
    out_.close_nested(data);
  });
  expression("redir", [&] { out_.be32(NFTA_REDIR_REG_PROTO_MIN, NFT_REG_1); });
}

Status exchange(int protocol, NetlinkMessages& messages) {
  const UniqueFd socket =
      TRY(check_fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol), {"socket(AF_NETLINK)"}));
  const std::string_view bytes = messages.finish();
  TRY(check(::send(socket.get(), bytes.data(), bytes.size(), 0), {"send()"}));
  // The end of a batch is not acknowledged; the last message before it is.
  return read_answers(socket.get(), messages.last_sequence() - (protocol == NETLINK_NETFILTER ? 1 : 0));
}

// Until the last message is acknowledged or one of them has failed.
Status read_answers(int socket, std::uint32_t last) {
  alignas(nlmsghdr) std::array<char, 8192> buffer;
  for (;;) {
    const ssize_t count = retry([&] { return ::recv(socket, buffer.data(), buffer.size(), 0); });
    TRY(check(count, {"recv()"}));
    auto left = static_cast<unsigned>(count);
    for (auto* header = reinterpret_cast<nlmsghdr*>(buffer.data()); NLMSG_OK(header, left);
         header = NLMSG_NEXT(header, left)) {
      if (header->nlmsg_type != NLMSG_ERROR) continue;
      const auto* answer = static_cast<const nlmsgerr*>(NLMSG_DATA(header));
      if (answer->error != 0) {
        return fail(Error::from_errno(cat({"message ", std::to_string(header->nlmsg_seq)}), -answer->error));
      }
      if (header->nlmsg_seq == last) return {};
    }
  }
}

std::uint8_t address_family(const IpAddress& address) { return address.family == IpFamily::kV4 ? AF_INET : AF_INET6; }
std::uint8_t address_bytes(const IpAddress& address) { return address.family == IpFamily::kV4 ? 4 : 16; }

}  // namespace

}  // namespace hutch::sys
