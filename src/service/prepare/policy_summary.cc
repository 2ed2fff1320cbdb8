// A policy in a few words.
#include "service/prepare/policy_summary.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "base/text.h"

namespace hutch::service {

namespace {

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string network_words(const policy::Network& network) {
  switch (network.mode) {
    case policy::NetworkMode::kNone: return "no network";
    case policy::NetworkMode::kOutbound: return "all domains";
    case policy::NetworkMode::kHost: return "the machine's own network";
    case policy::NetworkMode::kRules: break;
  }
  return counted(network.allowed_domains.size() + network.rules.size(), "domain");
}

std::vector<std::string> texts_of(const std::vector<policy::PathEntry>& entries) {
  std::vector<std::string> texts;
  for (const policy::PathEntry& entry : entries) texts.push_back(entry.text);
  return texts;
}

}  // namespace

std::string status_line(const policy::Policy& policy) {
  if (policy.enabled == policy::Switch::kDisabled) return "Sandbox: disabled";
  return cat({"🔒 Sandbox: ", network_words(policy.network), ", ",
              counted(policy.filesystem.allow_write.size(), "write path")});
}

std::string status_line(const policy::Policy& policy, Colour colour) {
  static constexpr std::string_view kRed = "\x1b[31m";
  static constexpr std::string_view kPlain = "\x1b[0m";
  const bool red = colour == Colour::kTerminal && policy.enabled == policy::Switch::kDisabled;
  return red ? cat({kRed, status_line(policy), kPlain}) : status_line(policy);
}

std::string status_json(const LoadedPolicy& loaded) {
  const policy::Policy& policy = loaded.policy;
  const nlohmann::ordered_json object = {{"enabled", policy.enabled == policy::Switch::kEnabled},
                                         {"line", status_line(policy)},
                                         {"policy", policy.source},
                                         {"domains", policy.network.allowed_domains.size()},
                                         {"write_paths", policy.filesystem.allow_write.size()}};
  return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::vector<SummaryRow> summary_rows(const LoadedPolicy& loaded) {
  const policy::Policy& policy = loaded.policy;
  std::vector<SummaryRow> rows = {{"policy", policy.source}, {"paths from", loaded.project}};
  const auto list = [&](std::string name, const std::vector<std::string>& entries) {
    if (!entries.empty()) rows.push_back({std::move(name), join(entries, ", ")});
  };
  if (policy.enabled == policy::Switch::kDisabled) rows.push_back({"enabled", "false: nothing is isolated"});
  if (policy.network.mode != policy::NetworkMode::kRules) rows.push_back({"network", network_words(policy.network)});
  list("allowedDomains", policy.network.allowed_domains);
  list("deniedDomains", policy.network.denied_domains);
  list("allowRead", texts_of(policy.filesystem.allow_read));
  list("denyRead", texts_of(policy.filesystem.deny_read));
  list("allowWrite", texts_of(policy.filesystem.allow_write));
  list("denyWrite", texts_of(policy.filesystem.deny_write));
  list("private", texts_of(policy.filesystem.own_directories));
  return rows;
}

std::string summary_text(const LoadedPolicy& loaded) {
  std::string text;
  for (const SummaryRow& row : summary_rows(loaded)) {
    text += fmt::format("{:<16}{}\n", row.name, printable(row.value, 4096));
  }
  return text;
}

}  // namespace hutch::service
