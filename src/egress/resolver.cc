// Addresses of names. The one place that uses c-ares.
#include "egress/resolver.h"

#include <ares.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "plan/paths/name_files.h"
#include "sys/files/tree.h"

namespace hutch::egress {

// Not in the anonymous namespace: a class in the header has these as a member.
struct KeptAddresses {
  std::vector<IpAddress> addresses;
  Moment until;
};

namespace {

// Answers are kept as long as their servers say, within these bounds.
constexpr std::chrono::seconds kKeepMin{1};
constexpr std::chrono::seconds kKeepMax{60};
constexpr std::size_t kKeptMax = 1024;
constexpr std::size_t kAddressesMax = 16;
// Of one query; then the next server is asked, and each is asked twice.
constexpr int kQueryMs = 3000;
constexpr int kTries = 2;

KeptAddresses addresses_of(const ares_addrinfo& answer);
Error describe(const std::string& name, int status);

}  // namespace

class Resolver::Channel {
 public:
  explicit Channel(Loop& loop) : loop_(loop) {}
  ~Channel();

  Status open();
  void resolve(const std::string& name, OnAnswer on_answer);

 private:
  struct Waiting {
    Channel* channel;
    std::string name;
    std::vector<OnAnswer> on_answers;
  };

  static void answered(void* data, int status, int timeouts, ares_addrinfo* answer);
  static void socket_changed(void* data, ares_socket_t socket, int readable, int writable);
  void ready(ares_socket_t socket, const sys::Readiness& readiness);
  void set_timer();

  Loop& loop_;
  ares_channel channel_ = nullptr;
  std::unordered_map<ares_socket_t, Loop::Watch> sockets_;
  Loop::Timer timer_;
  std::unordered_map<std::string, KeptAddresses> kept_;
  std::unordered_map<std::string, std::unique_ptr<Waiting>> waiting_;
  bool closing_ = false;
};

Resolver::Resolver(Loop& loop) : loop_(loop) {}
Resolver::~Resolver() = default;

void Resolver::resolve(const std::string& name, OnAnswer on_answer) {
  if (const auto* listed = host_names_.find(name)) {
    return on_answer(Addresses{*listed, host_names_.source()});
  }
  // No DNS is asked for these (RFC 6761, section 6.3).
  if (name == "localhost" || name.ends_with(".localhost")) {
    return on_answer(Addresses{.list = {IpAddress::v4(127, 0, 0, 1), *parse_ip("::1")}});
  }
  if (!channel_) {
    auto channel = std::make_unique<Channel>(loop_);
    Status opened = channel->open();
    if (!opened) return on_answer(fail(std::move(opened).error()));
    channel_ = std::move(channel);
  }
  channel_->resolve(name, std::move(on_answer));
}

Resolver::Channel::~Channel() {
  closing_ = true;
  if (channel_ != nullptr) ares_destroy(channel_);
}

Status Resolver::Channel::open() {
  ares_options options{};
  options.timeout = kQueryMs;
  options.tries = kTries;
  options.sock_state_cb = socket_changed;
  options.sock_state_cb_data = this;
  // Only DNS: c-ares would read a hosts file of any size or kind, and wait for the other end of a pipe.
  std::string lookups = "b";
  options.lookups = lookups.data();
  // Names are whole here: what the host would add to a short one is not what the policy was asked about.
  int mask = ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB | ARES_OPT_DOMAINS | ARES_OPT_LOOKUPS;
  // If this file cannot be read, c-ares asks a DNS on the host itself.
  std::string nothing = "/dev/null";
  if (!sys::regular_file_text("/etc/resolv.conf", plan::kResolverBytesMax)) {
    options.resolvconf_path = nothing.data();
    mask |= ARES_OPT_RESOLVCONF;
  }
  const int status = ares_init_options(&channel_, &options, mask);
  if (status != ARES_SUCCESS) return fail(Error{Code::kSystem, 0, cat({"c-ares: ", ares_strerror(status)})});
  return {};
}

void Resolver::Channel::resolve(const std::string& name, OnAnswer on_answer) {
  if (const auto kept = kept_.find(name); kept != kept_.end()) {
    if (kept->second.until > SteadyClock::now()) return on_answer(Addresses{.list = kept->second.addresses});
    kept_.erase(kept);
  }
  auto& waiting = waiting_[name];
  if (waiting) return waiting->on_answers.push_back(std::move(on_answer));
  waiting = std::make_unique<Waiting>(Waiting{this, name, {}});
  waiting->on_answers.push_back(std::move(on_answer));
  ares_addrinfo_hints hints{};
  hints.ai_family = AF_UNSPEC;
  ares_getaddrinfo(channel_, name.c_str(), nullptr, &hints, answered, waiting.get());
  set_timer();
}

void Resolver::Channel::answered(void* data, int status, int, ares_addrinfo* answer) {
  auto& waiting = *static_cast<Waiting*>(data);
  Channel& channel = *waiting.channel;
  if (channel.closing_) {
    if (answer != nullptr) ares_freeaddrinfo(answer);
    return;
  }
  const auto owned = std::move(channel.waiting_.extract(waiting.name).mapped());
  if (status != ARES_SUCCESS || answer == nullptr) {
    for (const OnAnswer& on_answer : owned->on_answers) on_answer(fail(describe(owned->name, status)));
    return;
  }
  if (channel.kept_.size() >= kKeptMax) channel.kept_.clear();
  const KeptAddresses kept = addresses_of(*answer);
  channel.kept_.insert_or_assign(owned->name, kept);
  ares_freeaddrinfo(answer);
  for (const OnAnswer& on_answer : owned->on_answers) on_answer(Addresses{.list = kept.addresses});
}

void Resolver::Channel::socket_changed(void* data, ares_socket_t socket, int readable, int writable) {
  auto& channel = *static_cast<Channel*>(data);
  if (channel.closing_) return;
  if (readable == 0 && writable == 0) {
    channel.sockets_.erase(socket);
    return;
  }
  const Loop::Interest interest{.read = readable != 0, .write = writable != 0};
  const auto known = channel.sockets_.find(socket);
  if (known != channel.sockets_.end()) return known->second.set(interest);
  auto watch = channel.loop_.watch(
      socket, interest, [&channel, socket](const sys::Readiness& readiness) { channel.ready(socket, readiness); });
  if (watch) channel.sockets_.emplace(socket, std::move(*watch));
}

void Resolver::Channel::ready(ares_socket_t socket, const sys::Readiness& readiness) {
  ares_process_fd(channel_, readiness.readable ? socket : ARES_SOCKET_BAD,
                  readiness.writable ? socket : ARES_SOCKET_BAD);
  set_timer();
}

void Resolver::Channel::set_timer() {
  timeval buffer{};
  const timeval* left = ares_timeout(channel_, nullptr, &buffer);
  if (left == nullptr) {
    timer_.stop();
    return;
  }
  const std::chrono::milliseconds wait(left->tv_sec * 1000 + left->tv_usec / 1000 + 1);
  timer_ = loop_.after(wait, [this] {
    ares_process_fd(channel_, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
    set_timer();
  });
}

namespace {

KeptAddresses addresses_of(const ares_addrinfo& answer) {
  KeptAddresses kept;
  std::chrono::seconds keep = kKeepMax;
  for (const ares_addrinfo_node* node = answer.nodes; node != nullptr; node = node->ai_next) {
    IpAddress address;
    if (node->ai_family == AF_INET) {
      std::memcpy(address.bytes.data(), &reinterpret_cast<const sockaddr_in*>(node->ai_addr)->sin_addr, 4);
    } else if (node->ai_family == AF_INET6) {
      address.family = IpFamily::kV6;
      std::memcpy(address.bytes.data(), &reinterpret_cast<const sockaddr_in6*>(node->ai_addr)->sin6_addr, 16);
    } else {
      continue;
    }
    keep = std::min(keep, std::chrono::seconds(node->ai_ttl));
    if (kept.addresses.size() < kAddressesMax) kept.addresses.push_back(address);
  }
  kept.until = SteadyClock::now() + std::max(keep, kKeepMin);
  return kept;
}

Error describe(const std::string& name, int status) {
  const std::string message = cat({"resolve ", printable(name), ": ", ares_strerror(status)});
  const bool absent = status == ARES_ENOTFOUND || status == ARES_ENODATA || status == ARES_EBADNAME;
  if (absent) return Error::not_found(message);
  return {Code::kSystem, 0, message};
}

}  // namespace

}  // namespace hutch::egress
