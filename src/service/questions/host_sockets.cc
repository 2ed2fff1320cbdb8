// The Unix sockets of the host that one sandbox may connect to.
#include "service/questions/host_sockets.h"

#include <fcntl.h>
#include <linux/openat2.h>

#include <cerrno>
#include <utility>

#include "base/text.h"
#include "plan/setup/os_user.h"
#include "policy/decide.h"
#include "policy/glob.h"
#include "policy/path_option.h"
#include "sys/files/delegate.h"
#include "sys/files/files.h"
#include "sys/net/foreign_socket.h"
#include "sys/net/socket_owner.h"
#include "sys/process/host_info.h"

namespace hutch::service {

namespace {

using policy::SocketVerdict;

// A command can make names of sockets for ever, and processes that try them.
constexpr std::size_t kToldMax = 1000;

// A file of the host's, and where it is.
struct Found {
  UniqueFd file;
  std::string path;
};
std::optional<Found> find_socket(const std::string& path) {
  auto file = sys::resolve(AT_FDCWD, path, sys::LastLink::kFollow, RESOLVE_NO_MAGICLINKS);
  const auto proc = sys::open("/proc", sys::Open::kPath);
  if (!file || !proc) return std::nullopt;
  const auto what = sys::look_at_socket(file->get());
  auto canonical = sys::path_of(proc->get(), file->get());
  if (!what || !what->is_socket || !canonical || !canonical->starts_with('/')) return std::nullopt;
  return Found{std::move(*file), std::move(*canonical)};
}

sandbox::SocketAnswer refused_socket(const sandbox::SocketRequest& request) {
  return {.file = {}, .error = request.error != 0 ? request.error : EACCES, .refusal = {}};
}

std::string socket_remedy(const std::string& path) {
  return cat({policy::path_option("--allow-socket", path), " allows it"});
}

}  // namespace

SocketJudgement judge_socket(const policy::Network& network, const policy::Asks& asks,
                             const std::vector<policy::Rule>& rules, const std::string& path) {
  SocketJudgement judgement{path, policy::decide_socket(network, asks, path)};
  if (judgement.decision.verdict != SocketVerdict::kAsk) return judgement;
  // It would take whoever connects for the person, and let them be another user.
  if (is_within(path, plan::kHelperSocket.substr(0, plan::kHelperSocket.rfind('/')))) {
    judgement.decision = {SocketVerdict::kDeny, "built in", "it is hutch-helper's, which starts programs as root"};
    return judgement;
  }
  for (const policy::Rule& rule : rules) {
    const bool closes = rule.origin == policy::Origin::kStore || rule.origin == policy::Origin::kCredential;
    if (!closes || !is_within(path, rule.path)) continue;
    judgement.decision = {SocketVerdict::kDeny, policy::describe(rule),
                          "it lies among credentials, or hutch's own files"};
    return judgement;
  }
  return judgement;
}

HostSockets::HostSockets(Settings settings)
    : settings_(std::move(settings)), self_(std::make_shared<HostSockets*>(this)) {}

HostSockets::~HostSockets() { *self_ = nullptr; }

void HostSockets::judge(const sandbox::SocketRequest& request, const sandbox::SettleSocket& settle) {
  // By its name in the sandbox: whatever was put there, what answers is hutch, and knows whose sandbox it is.
  if (!settings_.bridge.on_host.empty() && request.path == settings_.bridge.inside) {
    std::optional<Found> bridge = find_socket(settings_.bridge.on_host);
    if (!bridge) return settle(refused_socket(request));
    return settle({.file = std::move(bridge->file), .error = 0, .refusal = {}});
  }
  std::optional<Found> found = find_socket(request.path);
  if (!found) {
    sandbox::SocketAnswer answer = refused_socket(request);
    // Something is there in the sandbox alone, at which nobody of the sandbox answers any more.
    if (request.error == 0) answer.error = ECONNREFUSED;
    return settle(answer);
  }
  const SocketJudgement judgement = judge_socket(settings_.network, settings_.asks, settings_.rules, found->path);
  const policy::SocketDecision& decision = judgement.decision;
  const bool open = decision.verdict == SocketVerdict::kAllow || is_granted(found->path);
  if (open) return settle({.file = std::move(found->file), .error = 0, .refusal = {}});
  if (decision.routine) return settle(refused_socket(request));
  const bool asks = settings_.questions != nullptr && settings_.questions->may_allow();
  if (decision.verdict == SocketVerdict::kDeny || !asks) return settle(refuse(request, found->path, decision));
  ask(request, std::move(found->path), std::move(found->file), settle);
}

void HostSockets::ask(const sandbox::SocketRequest& request, std::string path, UniqueFd file,
                      const sandbox::SettleSocket& settle) {
  const sys::SocketOwner process = sys::describe_process(static_cast<pid_t>(request.pid));
  const approval::Question question{.kind = approval::Kind::kSocket,
                                    .target = path,
                                    .process = {request.pid, process.program, process.chain},
                                    .rule = "default"};
  // What was asked about is what is connected to.
  auto held = std::make_shared<UniqueFd>(std::move(file));
  settings_.questions->ask(question, [self = self_, request, path, held, settle](const approval::Effect& effect) {
    if (*self == nullptr) return settle(refused_socket(request));
    if (!effect.allowed) {
      return settle((*self)->refuse(request, path, {SocketVerdict::kAsk, "default", "the answer was no"}));
    }
    (*self)->take(path, effect);
    settle({.file = std::move(*held), .error = 0, .refusal = {}});
  });
}

sandbox::SocketAnswer HostSockets::refuse(const sandbox::SocketRequest& request, const std::string& path,
                                          const policy::SocketDecision& decision) {
  sandbox::SocketAnswer answer = refused_socket(request);
  if (told_.size() >= kToldMax || !told_.insert(path).second) return answer;
  const std::string remedy = decision.verdict == SocketVerdict::kAsk ? cat({"; ", socket_remedy(path)}) : std::string();
  answer.refusal = {
      .what = cat({"connecting to the socket ", printable(path, 256), " was refused: ", decision.why, remedy}),
      .rule = decision.rule,
      .pid = request.pid};
  return answer;
}

void HostSockets::take(const std::string& path, const approval::Effect& effect) {
  if (!effect.grant) return;
  Grant grant;
  grant.saved = effect.save.has_value();
  if (effect.grant->span == approval::Answer::kMinutes) grant.until = Clock::now() + effect.grant->minutes;
  granted_.insert_or_assign(path, grant);
}

bool HostSockets::is_granted(const std::string& path) {
  const auto found = granted_.find(path);
  if (found == granted_.end()) return false;
  if (!found->second.until || Clock::now() < *found->second.until) return true;
  granted_.erase(found);
  return false;
}

void HostSockets::replace(const policy::Network& network, const policy::Asks& asks) {
  settings_.network = network;
  settings_.asks = asks;
  std::erase_if(granted_, [](const auto& one) { return one.second.saved; });
}

SocketVerdict HostSockets::verdict(const std::string& path) const {
  return judge_socket(settings_.network, settings_.asks, settings_.rules, path).decision.verdict;
}

std::size_t HostSockets::revoke(const std::string& path) { return granted_.erase(path); }

}  // namespace hutch::service
