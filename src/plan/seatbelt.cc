// From rules to a Seatbelt profile. In a profile the last rule that matches wins, so rules go from the shortest path to
// the longest, and denies of writing come after all allows.
#include "plan/seatbelt.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "policy/decide.h"

namespace hutch::plan {

namespace {

using policy::Rule;
using policy::Verb;
using policy::View;

constexpr std::string_view kHead =
    "(version 1)\n"
    "; Made by hutch. Untested on macOS.\n"
    "(deny default)\n"
    "(allow process-exec)\n"
    "(allow process-fork)\n"
    "(allow signal (target same-sandbox))\n"
    "(allow process-info* (target same-sandbox))\n"
    "(allow sysctl-read)\n"
    "(allow mach-lookup (global-name \"com.apple.system.opendirectoryd.libinfo\"))\n"
    "(allow file-read*)\n";

constexpr std::string_view kDevices =
    "(allow file-write* (literal \"/dev/null\") (literal \"/dev/zero\") (literal \"/dev/tty\"))\n"
    "(allow file-ioctl (literal \"/dev/tty\"))\n";

policy::Judgement judge_at(const std::vector<Rule>& rules, std::string_view path);
Status add_line(std::string& out, std::string_view action, std::string_view path);
Result<std::string> quoted(std::string_view path);

}  // namespace

Result<std::string> seatbelt_profile(const SeatbeltInput& input) {
  std::vector<const Rule*> order;
  for (const Rule& rule : input.rules) {
    // Seatbelt has no places of a sandbox's own: there is one file system.
    if (rule.verb != Verb::kPlace) order.push_back(&rule);
  }
  std::ranges::sort(order, {}, [](const Rule* rule) { return std::pair(std::string_view(rule->path), rule->verb); });
  const auto same = [](const Rule* a, const Rule* b) { return a->path == b->path && a->verb == b->verb; };
  order.erase(std::ranges::unique(order, same).begin(), order.end());

  std::string out(kHead);
  for (const Rule* rule : order) {
    if (rule->verb != Verb::kAllowRead && rule->verb != Verb::kDenyRead) continue;
    const bool hidden = judge_at(input.rules, rule->path).view == View::kHidden;
    TRY(add_line(out, hidden ? "deny file-read*" : "allow file-read*", rule->path));
  }
  for (const Rule* rule : order) {
    if (rule->verb == Verb::kAllowWrite) TRY(add_line(out, "allow file-write*", rule->path));
  }
  for (const Rule* rule : order) {
    const bool writable = judge_at(input.rules, rule->path).view == View::kReadWrite;
    const bool denies = rule->verb == Verb::kDenyWrite || rule->verb == Verb::kDenyRead;
    if (denies && !writable) TRY(add_line(out, "deny file-write*", rule->path));
  }
  // What a longer allowRead shows again inside of what is hidden may be writable again.
  for (const Rule* rule : order) {
    const bool shown_again =
        rule->verb == Verb::kAllowRead && judge_at(input.rules, rule->path).view == View::kReadWrite;
    if (shown_again) TRY(add_line(out, "allow file-write*", rule->path));
  }
  for (const Rule* rule : order) {
    const bool stays = rule->verb == Verb::kDenyWrite && judge_at(input.rules, rule->path).view != View::kReadWrite;
    if (stays) TRY(add_line(out, "deny file-write*", rule->path));
  }
  out += kDevices;
  if (input.proxy_port) {
    out += cat({"(allow network-outbound (remote ip \"localhost:", std::to_string(*input.proxy_port), "\"))\n"});
  }
  return out;
}

// FNV-1a, 64 bits: names a file whose content is written whole each time, so nothing rests on it but the sharing.
std::string seatbelt_file(const std::string& workspace, const std::string& profile) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::string_view text :
       {std::string_view(workspace), std::string_view("\0", 1), std::string_view(profile)}) {
    for (const char byte : text) {
      hash ^= static_cast<unsigned char>(byte);
      hash *= 0x100000001b3;
    }
  }
  std::string digits;
  for (int shift = 60; shift >= 0; shift -= 4) digits += kDigits[(hash >> shift) & 15];
  return cat({".sandbox-profiles/seatbelt-", digits, ".sb"});
}

namespace {

policy::Judgement judge_at(const std::vector<Rule>& rules, std::string_view path) {
  std::vector<const Rule*> covering;
  for (const Rule& rule : rules) {
    if (rule.verb != Verb::kPlace && is_within(path, rule.path)) covering.push_back(&rule);
  }
  return policy::judge(covering);
}

Status add_line(std::string& out, std::string_view action, std::string_view path) {
  const std::string name = TRY(quoted(path));
  out += cat({"(", action, " (subpath ", name, "))\n"});
  return {};
}

// A string of the profile language, which is a Scheme: quotes and backslashes are escaped.
Result<std::string> quoted(std::string_view path) {
  std::string text = "\"";
  for (const char byte : path) {
    if (static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f) {
      return fail(
          Error::invalid(cat({printable(path), ": a Seatbelt profile cannot name a path with control characters"})));
    }
    if (byte == '"' || byte == '\\') text += '\\';
    text += byte;
  }
  return text + "\"";
}

}  // namespace

}  // namespace hutch::plan
