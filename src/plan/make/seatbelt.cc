// From rules to a Seatbelt profile. In a profile the last line that matches wins, so a directory comes before what is
// in it; each path that a rule names gets a line where its view differs from that of the directory above.
#include "plan/make/seatbelt.h"

#include <map>
#include <set>
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

View view_at(const std::vector<Rule>& rules, std::string_view path);
View nearest_above(const std::map<std::string_view, View>& known, std::string_view path);
Status add_line(std::string& out, std::string_view action, std::string_view path);
Result<std::string> quoted(std::string_view path);

}  // namespace

Result<std::string> seatbelt_profile(const SeatbeltInput& input) {
  std::set<std::string_view> paths;
  for (const Rule& rule : input.rules) {
    // Seatbelt has no places of a sandbox's own: there is one file system.
    if (rule.verb != Verb::kPlace) paths.insert(rule.path);
  }
  std::string reads;
  std::string writes;
  std::map<std::string_view, View> known = {{"/", View::kReadOnly}};
  for (const std::string_view path : paths) {
    const View view = view_at(input.rules, path);
    const View above = path == "/" ? View::kReadOnly : nearest_above(known, path);
    known[path] = view;
    const bool hidden = view == View::kHidden;
    const bool writable = view == View::kReadWrite;
    if (hidden != (above == View::kHidden)) TRY(add_line(reads, hidden ? "deny file-read*" : "allow file-read*", path));
    if (writable != (above == View::kReadWrite)) {
      TRY(add_line(writes, writable ? "allow file-write*" : "deny file-write*", path));
    }
  }
  std::string out = cat({kHead, reads, writes, kDevices});
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

View view_at(const std::vector<Rule>& rules, std::string_view path) {
  std::vector<const Rule*> covering;
  for (const Rule& rule : rules) {
    if (rule.verb != Verb::kPlace && is_within(path, rule.path)) covering.push_back(&rule);
  }
  return policy::judge(covering).view;
}

View nearest_above(const std::map<std::string_view, View>& known, std::string_view path) {
  for (std::string_view at = path;;) {
    const std::size_t slash = at.rfind('/');
    at = slash == 0 ? std::string_view("/") : at.substr(0, slash);
    const auto found = known.find(at);
    if (found != known.end()) return found->second;
  }
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
