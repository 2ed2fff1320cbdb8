// Which requests of a host the rules about its HTTP let through.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "policy/glob.h"
#include "policy/network/domains.h"
#include "policy/network/rules.h"

namespace hutch::policy {

namespace {

bool matches_any_path(const HttpRule& rule, std::string_view path);
std::optional<std::string> decoded_segment(std::string_view segment);
bool encodes_again(std::string_view decoded);
bool has_other_separators(std::string_view decoded);
bool is_dot_segment(std::string_view segment);
std::optional<int> hex_value(char digit);
bool is_unreserved(char character);

}  // namespace

std::vector<HttpRule> http_rules_for(const Network& network, const Host& host, int port) {
  std::vector<HttpRule> rules;
  for (const HttpRule& rule : network.rules) {
    if (matches_domain(rule.host, host.name, port)) rules.push_back(rule);
  }
  return rules;
}

RequestDecision decide_request(std::span<const HttpRule> rules, std::string_view method, std::string_view target) {
  if (rules.empty()) return {.allowed = true, .rule = nullptr};
  const std::optional<std::string> normal = normal_target(target);
  for (const HttpRule& rule : rules) {
    if (!rule.methods.empty() && std::ranges::find(rule.methods, method) == rule.methods.end()) continue;
    // A rule that names no path holds for every path, one that could be read in two ways too.
    if (rule.paths.empty()) return {.allowed = true, .rule = &rule};
    if (normal && matches_any_path(rule, *normal)) return {.allowed = true, .rule = &rule};
  }
  return {};
}

std::optional<std::string> normal_target(std::string_view target) {
  const std::size_t query = std::min(target.find('?'), target.size());
  const std::string_view path = target.substr(0, query);
  const std::string_view rest = target.substr(query);
  if (!path.starts_with('/')) return std::nullopt;
  const auto is_plain = [](char character) { return character > ' ' && character < 0x7f && character != '#'; };
  if (!std::ranges::all_of(rest, is_plain)) return std::nullopt;
  const std::vector<std::string_view> parts = split(path.substr(1), '/');
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool last = i + 1 == parts.size();
    // Some servers take "//" for "/", others do not, and they disagree about ".." behind it.
    if (parts[i].empty() && !last) return std::nullopt;
    std::optional<std::string> segment = decoded_segment(parts[i]);
    if (!segment) return std::nullopt;
    if (!is_dot_segment(*segment)) {
      kept.push_back(std::move(*segment));
      continue;
    }
    if (*segment == ".." && kept.empty()) return std::nullopt;
    if (*segment == "..") kept.pop_back();
    if (last) kept.emplace_back();
  }
  return cat({"/", join(kept, "/"), rest});
}

namespace {

bool matches_any_path(const HttpRule& rule, std::string_view path) {
  const std::string_view without_query = path.substr(0, path.find('?'));
  return std::ranges::any_of(rule.paths,
                             [&](const std::string& pattern) { return matches_path(pattern, without_query); });
}

// Absent where servers are known to disagree: a hidden slash, backslash, dot segment or second encoding, a dot segment
// with parameters ("..;x"), a byte that is no printable ASCII.
std::optional<std::string> decoded_segment(std::string_view segment) {
  std::string out;
  for (std::size_t i = 0; i < segment.size(); ++i) {
    const char character = segment[i];
    if (character <= ' ' || character >= 0x7f || character == '\\' || character == '#') return std::nullopt;
    if (character != '%') {
      out += character;
      continue;
    }
    if (i + 2 >= segment.size()) return std::nullopt;
    const std::optional<int> high = hex_value(segment[i + 1]);
    const std::optional<int> low = hex_value(segment[i + 2]);
    if (!high || !low) return std::nullopt;
    const char decoded = static_cast<char>(*high * 16 + *low);
    const bool control = static_cast<unsigned char>(decoded) < 0x20 || decoded == 0x7f;
    if (control || decoded == '/' || decoded == '\\') return std::nullopt;
    if (is_unreserved(decoded)) {
      out += decoded;
    } else {
      static constexpr std::string_view kDigits = "0123456789ABCDEF";
      out += '%';
      out += kDigits[static_cast<std::size_t>(*high)];
      out += kDigits[static_cast<std::size_t>(*low)];
    }
    i += 2;
  }
  if (encodes_again(out) || has_other_separators(out) || (is_dot_segment(out) && out != segment)) return std::nullopt;
  const std::string_view name = std::string_view(out).substr(0, std::min(out.find(';'), out.find("%3B")));
  if (name != out && is_dot_segment(name)) return std::nullopt;
  return out;
}

// Of the decoded text: the digits after an encoded percent sign may have been encoded too ("%25%32%66").
bool encodes_again(std::string_view decoded) {
  for (std::size_t at = decoded.find("%25"); at != std::string_view::npos; at = decoded.find("%25", at + 3)) {
    if (at + 4 < decoded.size() && hex_value(decoded[at + 3]) && hex_value(decoded[at + 4])) return true;
  }
  return false;
}

// Encodings that some servers decode to a dot, a slash, a backslash or a percent sign: UTF-8 that is longer than
// necessary (RFC 3629, 3), and characters that a compatibility form (NFKC) or a Windows code page maps to these.
bool has_other_separators(std::string_view decoded) {
  static constexpr std::string_view kOthers[] = {
      "%C0",       "%C1",       "%E0%8",     "%E0%9",     "%F0%8",                              // overlong
      "%EF%BC%8E", "%EF%BC%8F", "%EF%BC%BC", "%EF%BC%85",                                       // full width . / \ %
      "%EF%B9%92", "%EF%B9%A8", "%EF%B9%AA", "%E2%80%A4", "%E2%80%A5", "%E2%80%A6",  // small . \ %; leaders
      "%E2%81%84", "%E2%88%95", "%E2%88%96", "%EF%BD%A1"};  // other slashes; a stop
  return std::ranges::any_of(kOthers, [&](std::string_view other) { return decoded.contains(other); });
}

bool is_dot_segment(std::string_view segment) { return segment == "." || segment == ".."; }

std::optional<int> hex_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return std::nullopt;
}

// RFC 3986, 2.3.
bool is_unreserved(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9') || std::string_view("-._~").contains(character);
}

}  // namespace

}  // namespace hutch::policy
