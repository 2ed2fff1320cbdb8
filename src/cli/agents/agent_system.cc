// The question whether an agent gets a system of its own for what is to be installed.
#include "cli/agents/agent_system.h"

#include "base/text.h"
#include "cli/terminal/consent.h"
#include "host/machine/facts.h"
#include "service/agent/network.h"
#include "service/image/build.h"
#include "service/image/recipe.h"
#include "sys/process/unwaiting.h"
#include "tool/envelope.h"

namespace hutch::cli {

namespace {

constexpr std::size_t kCommandShown = 300;

std::string question_text(const InstallNeed& need, const std::string& home) {
  std::string text;
  if (need.what == tool::kNeedsSystem) {
    text = cat({"Agent ", need.agent, " has the host's own system, read-only. hutch can give it the image ",
                service::kDefaultImage,
                ":\nthis machine's own distribution, built from its package sources, which "
                "takes some minutes the first time. What else is installed on this machine is not in it.\n"
                "The agent's home stays; its sandbox starts anew.\n"});
  }
  if (need.set_up.empty()) return text;
  return text + cat({"The set-up of the plugin can reach this machine's package registries while it runs:\n  ",
                     join(service::registry_hosts(home), " "), "\n  ", printable(need.set_up, kCommandShown), "\n"});
}

}  // namespace

Status give_what_is_needed(client::DaemonClient& daemon, const InstallNeed& need, const Error& failed) {
  if (need.what.empty() || !is_terminal(0) || !is_terminal(2)) return fail(failed);
  const plan::HostFacts facts = TRY_CTX(host::probe_facts(), "look at this machine");
  const bool system = need.what == tool::kNeedsSystem;
  TRY(ask_consent({.what = question_text(need, facts.home),
                   .question = system ? "Give it the image?" : "Let it?",
                   .option = {},
                   .declined = "nothing was installed"}));
  if (!system) return {};
  const auto tell = [](const std::string& line) { (void)sys::write_until_told(2, cat({"hutch: ", line, "\n"})); };
  TRY(service::ensure_image(std::string(service::kDefaultImage), service::Signals::kOwn, facts, tell));
  TRY(daemon.call("agent.give_system", {{"agent", need.agent}}));
  return {};
}

}  // namespace hutch::cli
