// What recipes need of the host.
#include "service/plugins/needs.h"

#include "base/text.h"

namespace hutch::service {

namespace {

constexpr std::string_view kPath = "path:";

// The word of a path for a shell, in which ~ means something still.
std::string path_word(std::string_view path) {
  if (!path.starts_with("~/")) return shell_word(path);
  return cat({"~/", shell_word(path.substr(2))});
}

// Of the host's files each backend has its own way to show more.
std::string way_to_path(std::string_view path, const store::AgentRecord& agent) {
  if (store::backend_kind(agent) == BackendKind::kUser)
    return cat({"hutch share --agent ", agent.name, " ", path_word(path)});
  if (store::backend_kind(agent) == BackendKind::kNone) return "it is there where this machine has it";
  const std::string policy =
      agent.policy.empty() ? std::string("the agent's policy") : cat({"the policy ", printable(agent.policy, 200)});
  return cat(
      {"put it into filesystem.allowRead, or allowWrite, of ", policy, " (docs: hutch explain shows what holds)"});
}

}  // namespace

std::string need_line(const std::string& need, const store::AgentRecord& agent) {
  if (need.starts_with(kPath)) {
    const std::string path = need.substr(kPath.size());
    return cat({"needs ", printable(path, 200), ": ", way_to_path(path, agent)});
  }
  if (need == "browser") {
    return cat({"needs a browser: one that the sandbox can run has to be installed",
                !store::has_image(agent) ? " on this machine" : " in its image"});
  }
  if (need == "display") {
    return "needs a display: network.allowUnixSockets of the agent's policy can open one, which shows it all windows";
  }
  return cat({"needs ", printable(need, 100)});
}

std::string need_for_model(const std::string& need) {
  const std::string what = need.starts_with(kPath) ? need.substr(kPath.size()) : need;
  return cat({"This plugin needs ", printable(what, 200),
              " of the host, which this sandbox does not have; whether to give it is for the user to decide."});
}

std::vector<std::string> need_lines(const plugin::Recipe& recipe, const store::AgentRecord& agent) {
  std::vector<std::string> lines;
  for (const std::string& need : recipe.needs) lines.push_back(need_line(need, agent));
  return lines;
}

std::vector<std::string> need_probe(const std::string& need, const std::string& home) {
  if (need.starts_with(kPath)) {
    std::string path = need.substr(kPath.size());
    if (path == "~" || path.starts_with("~/")) path = cat({home, path.substr(1)});
    return {"/bin/sh", "-c", "test -r \"$1\"", "sh", path};
  }
  if (need == "display") return {"/bin/sh", "-c", "test -n \"$DISPLAY$WAYLAND_DISPLAY\""};
  if (need == "browser") {
    return {"/bin/sh", "-c",
            "for one in chromium chromium-headless-shell google-chrome firefox firefox-esr; do "
            "command -v \"$one\" >/dev/null && exit 0; done; exit 1"};
  }
  return {"/bin/sh", "-c", "true"};
}

}  // namespace hutch::service
