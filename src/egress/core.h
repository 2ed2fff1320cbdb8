// What all connections of one gateway share: the loop, the rules, names, the resolver, the inspector, what is told.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "egress/events.h"
#include "egress/inspector.h"
#include "egress/loop.h"
#include "egress/names.h"
#include "egress/relay.h"
#include "egress/resolver.h"
#include "plan/paths/name_files.h"
#include "plan/plan.h"
#include "policy/network/parent_proxy.h"
#include "policy/network/rules.h"
#include "policy/policy.h"
#include "sys/net/sockets.h"

namespace hutch::egress {

struct Settings {
  policy::Network network;
  std::vector<plan::UdpCapture> udp;     // of its UDP rules
  plan::SearchRules search{};            // programs of the sandbox extend short names by these
  policy::ParentProxies parents;         // which it has to go out through
  std::string inspector_program;         // hutch-inspect
  std::function<bool()> attended{};      // whether somebody answers questions now; absent: nobody ever
  // What is put into requests to that host by TLS: what the sandbox has, and the value; absent: nothing ever.
  using Placeholders = std::vector<std::pair<std::string, std::string>>;
  std::function<Placeholders(const policy::Host& host)> placeholders{};
  // What allows a host, in front of its name, and whether each refusal of the same host is told, or the first alone.
  std::string remedy = "--allow-domain";
  enum class Refusals { kFirst, kEach } refusals = Refusals::kFirst;
  bool java_store = false;               // is to be had of what hutch-inspect trusts
  // Takes a connection to plan::kBridgePort of the sandbox's loopback; absent: that port is like any other.
  std::function<void(UniqueFd socket)> bridge{};
};

// The rule of what a person's answer allowed.
inline constexpr std::string_view kAnswerRule = "an answer";

enum class Verdict { kAllow, kDeny, kAsk };
struct Ruling {
  Verdict verdict = Verdict::kDeny;
  std::string rule;
  std::string why;
};

// The other end of a connection or query, which a process of the sandbox has.
struct Peer {
  sys::Transport transport = sys::Transport::kTcp;
  sys::Endpoint endpoint;
};

class Core {
 public:
  Core(std::unique_ptr<Loop> loop, Settings settings);

  Loop& loop() { return *loop_; }
  PipePool& pipes() { return pipes_; }
  Names& names() { return names_; }
  Resolver& resolver() { return resolver_; }
  Inspector& inspector() { return inspector_; }
  const policy::Network& network() const { return settings_.network; }
  const Settings& settings() const { return settings_; }
  // None where the policy says that TLS is never opened.
  Settings::Placeholders placeholders(const policy::Host& host, int port) const;
  void replace_network(policy::Network network) { settings_.network = std::move(network); }
  // What answers allowed: those that were saved are the policy's to say once it has been read again.
  void forget_saved_grants();
  // Takes back what was allowed for a host, at every port where none is named. How many.
  std::size_t revoke(const std::string& target);

  // A port of 0 asks about a name whose port is not known yet. kAsk only where somebody can be asked.
  Ruling rule(const Target& target) const;
  // Whether a rule denies it, so that no answer could allow it.
  bool is_denied(const Target& target) const;
  // An answer about an address is one about what that address is; one about a name says nothing of where it leads.
  enum class Basis { kRules, kAnswer };
  policy::AddressDecision rule_address(const Target& target, const IpAddress& address, policy::AddressSource source,
                                       Basis basis = Basis::kRules);

  // kOnce: to those who waited, by nothing that lasts.
  enum class Permission { kGiven, kOnce, kRefused };
  using OnPermission = std::function<void(Permission, const Process&)>;
  // Calls `on_answer` once, when it is answered: how many may be open, and how long, is for the owner to say. One
  // question for each target, however many ask; the process is that of the first, and known to it alone.
  void ask(const Target& target, const Peer& peer, OnPermission on_answer);
  // kSession holds for later connections as well; so does kSaved, which is in the user's policy from now on.
  enum class Answer { kNo, kOnce, kSession, kSaved };
  // False when no such question is open. `holds` bounds how long kSession does.
  bool answer(std::uint64_t id, Answer answer, std::optional<std::chrono::minutes> holds);

  // Told the first time for each host. Whose process it was is looked for then, unless it is known.
  void refuse(const Target& target, const Ruling& ruling, const Peer& peer, const Process& known = {});
  bool was_refused(const std::string& host) const { return refused_.contains(host); }
  // The option that would allow it; empty when none would.
  std::string remedy_for(const Target& target, const Ruling& ruling) const;

  using FindProcess = std::function<Process(sys::Transport, const sys::Endpoint&)>;
  void find_processes_by(FindProcess find) { find_process_ = std::move(find); }

  // Once it is needed, and again where it has died. What programs have to trust stays the same.
  Status start_inspector();
  const wire::InspectReady& inspector_trust() const { return inspector_trust_; }
  void tell(Event event) { events_.push_back(std::move(event)); }
  std::vector<Event> take_events() { return std::exchange(events_, {}); }

 private:
  struct Open {
    Question question;
    std::vector<OnPermission> on_answers;
  };
  bool is_granted(const Target& target) const;
  Process process_of(const Peer& peer);
  void close_question(std::uint64_t id, Permission permission);
  const std::vector<IpAddress>& own_addresses();

  std::unique_ptr<Loop> loop_;
  Settings settings_;
  PipePool pipes_;
  Names names_;
  Resolver resolver_;
  Inspector inspector_;
  wire::InspectReady inspector_trust_;
  FindProcess find_process_;
  Moment next_look_{};
  std::vector<Event> events_;
  std::set<std::string> refused_;
  std::unordered_map<std::uint64_t, Open> questions_;
  std::uint64_t last_question_ = 0;
  struct Grant {
    Moment until;
    bool saved = false;
  };
  std::map<std::string, Grant, std::less<>> granted_;
  std::vector<IpAddress> own_addresses_;
  Moment own_addresses_until_{};
};

}  // namespace hutch::egress
