// Who may speak HTTP to the daemon.
#include "server/protocol/http_guard.h"

#include <algorithm>
#include <charconv>

#include "base/base64.h"
#include "base/text.h"
#include "sys/files/files.h"
#include "sys/files/identity.h"
#include "sys/files/journal.h"
#include "sys/files/tree.h"
#include "sys/io.h"

namespace hutch::server::http {

namespace {

constexpr std::size_t kTokenBytes = 32;
constexpr std::size_t kTokenCharactersMin = 16;
constexpr std::size_t kTokenFileBytesMax = 4096;

// Takes as long for every wrong token, so that its time tells nothing of the right one.
bool is_same_secret(std::string_view given, std::string_view secret) {
  unsigned difference = given.size() == secret.size() ? 0 : 1;
  for (std::size_t i = 0; i < secret.size(); ++i) {
    const char c = i < given.size() ? given[i] : '\0';
    difference |= static_cast<unsigned char>(c) ^ static_cast<unsigned char>(secret[i]);
  }
  return difference == 0;
}

// The host of "host", "host:port", "[v6]:port"; empty where it is anything else: "localhost:80@evil.example" is a
// user's name and another host.
std::string_view host_of(std::string_view authority) {
  const bool bracketed = authority.starts_with('[');
  const std::size_t end = bracketed ? authority.find(']') : std::min(authority.find(':'), authority.size());
  if (end == std::string_view::npos) return {};
  const std::string_view rest = authority.substr(bracketed ? end + 1 : end);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool is_port = rest.size() > 1 && rest.starts_with(':') && std::ranges::all_of(rest.substr(1), is_digit);
  if (!rest.empty() && !is_port) return {};
  return bracketed ? authority.substr(1, end - 1) : authority.substr(0, end);
}

bool is_loopback_host(std::string_view host) {
  if (equal_ignoring_case(host, "localhost")) return true;
  // Names below it are this machine as well (RFC 6761, 6.3).
  constexpr std::string_view kBelow = ".localhost";
  if (host.size() > kBelow.size() && equal_ignoring_case(host.substr(host.size() - kBelow.size()), kBelow)) return true;
  const auto address = parse_ip(host);
  return address && is_loopback(*address);
}

bool is_loopback_origin(std::string_view origin) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme)) return is_loopback_host(host_of(origin.substr(scheme.size())));
  }
  return false;  // "null", extensions
}

Result<std::string> new_token() {
  const std::string digits = TRY(sys::random_hex(kTokenBytes));
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    unsigned byte = 0;
    (void)std::from_chars(digits.data() + i, digits.data() + i + 2, byte, 16);
    bytes += static_cast<char>(byte);
  }
  // The alphabet for URLs, without padding (RFC 4648, 5).
  std::string token = to_base64(bytes);
  std::ranges::replace(token, '+', '-');
  std::ranges::replace(token, '/', '_');
  std::erase(token, '=');
  return token;
}

}  // namespace

std::optional<Answer> check_place(const Request& request, const Guard* guard) {
  for (const auto& [name, origin] : request.fields) {
    if (name != "origin" || is_loopback_origin(origin)) continue;
    return answer_of({403, "origin_refused", cat({"a page of ", printable(origin, 100), " may not use this"})});
  }
  if (guard == nullptr) return std::nullopt;
  const std::string* host = request.field("host");
  if (guard->loopback && host != nullptr && !is_loopback_host(host_of(*host))) {
    return answer_of({421, "host_refused", cat({"this is not ", printable(*host, 100)})});
  }
  return std::nullopt;
}

std::optional<Answer> check_token(const Request& request, const Guard* guard) {
  if (guard == nullptr || is_same_secret(bearer_of(request), guard->token)) return std::nullopt;
  Answer answer = answer_of({401, "unauthorized", "the header Authorization has to be: Bearer TOKEN"});
  answer.fields.push_back({"WWW-Authenticate", "Bearer"});
  return answer;
}

std::optional<Answer> check_guard(const Request& request, const Guard* guard) {
  if (auto refused = check_place(request, guard)) return refused;
  return check_token(request, guard);
}

bool is_token(std::string_view given, std::string_view token) { return !token.empty() && is_same_secret(given, token); }

std::string_view bearer_of(const Request& request) {
  constexpr std::string_view kScheme = "Bearer ";
  const std::string* value = request.field("authorization");
  if (value == nullptr || value->size() < kScheme.size()) return {};
  const std::string_view text(*value);
  return equal_ignoring_case(text.substr(0, kScheme.size()), kScheme) ? text.substr(kScheme.size()) : "";
}

Result<sys::Endpoint> parse_listen(std::string_view text) {
  const auto wrong = [&] {
    return fail(Error::invalid(cat({"listen on ", printable(text, 64), ": an address is written 127.0.0.1:8080"})));
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return wrong();
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  sys::Endpoint at;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), at.port);
  if (error != std::errc() || end != digits.data() + digits.size()) return wrong();
  if (host == "localhost") host = "127.0.0.1";
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const auto address = parse_ip(host);
  if (!address) return wrong();
  at.address = *address;
  return at;
}

bool is_loopback(const IpAddress& address) {
  static const IpRange kV4 = *parse_ip_range("127.0.0.0/8");
  static const IpRange kV6 = *parse_ip_range("::1");
  return kV4.contains(address) || kV6.contains(address);
}

Result<std::string> load_token(const std::string& path) {
  if (!TRY(sys::status_of(path))) {
    const std::string token = TRY(new_token());
    const UniqueFd file = TRY_CTX(sys::make_file(sys::kCwd, path, 0600), "make the token file");
    TRY(sys::write_all(file.get(), token + "\n"));
    return token;
  }
  const UniqueFd file = TRY_CTX(sys::open(path, sys::Open::kRead), "the token file");
  const sys::FileIdentity identity = TRY(sys::identify(file.get()));
  if ((identity.mode & 0077) != 0 || (identity.uid != sys::user_id() && identity.uid != 0)) {
    return fail(
        Error{Code::kPermissionDenied, 0,
              cat({"token file ", printable(path), ": others may read or write it; chmod 600 ", shell_word(path)})});
  }
  std::string token = TRY_CTX(sys::read_to_end(file.get(), kTokenFileBytesMax), "the token file");
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r' || token.back() == ' ')) token.pop_back();
  const bool plain = std::ranges::all_of(token, [](char c) { return c > ' ' && c < '\x7f'; });
  if (token.size() < kTokenCharactersMin || !plain) {
    return fail(Error::invalid(
        cat({"token file ", path, ": a token is one line of at least 16 printable characters without spaces"})));
  }
  return token;
}

}  // namespace hutch::server::http
