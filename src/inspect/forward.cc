// What is sent on of an HTTP/1 message.
#include "inspect/forward.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace hutch::inspect {

namespace {

// Of one connection alone (RFC 9110, 7.6.1), or written by hutch itself.
constexpr std::string_view kDropped[] = {"Connection", "Keep-Alive", "Proxy-Connection", "Transfer-Encoding",
                                         "Upgrade",    "TE",         "HTTP2-Settings",   "Host"};

// A trailer may not say again where the message ends or goes (RFC 9110, 6.5.1).
constexpr std::string_view kNoTrailers[] = {
    "Content-Length", "Transfer-Encoding", "Host",  "Connection", "Trailer", "Upgrade", "TE",
    "Authorization",  "Set-Cookie",        "Cookie"};

template <std::size_t N>
bool is_one_of(const std::string_view (&names)[N], std::string_view name) {
  return std::ranges::any_of(names, [&](std::string_view one) { return same_name(one, name); });
}

bool is_proxy_header(std::string_view name) { return name.size() >= 6 && same_name(name.substr(0, 6), "Proxy-"); }

// What is meant for the other end. A field that Connection names goes too, but none that the message needs.
Headers end_to_end(const Headers& headers) {
  Headers kept;
  for (const Header& header : headers) {
    if (is_one_of(kDropped, header.name)) continue;
    const bool named = has_token(headers, "Connection", header.name);
    if (named && !same_name(header.name, "Content-Length")) continue;
    kept.push_back(header);
  }
  return kept;
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
  out += cat({name, ": ", value, "\r\n"});
}

void append_connection(std::string& out, Persistence persistence, Upgrading upgrading) {
  if (upgrading == Upgrading::kWebSocket) {
    append_field(out, "Connection", "Upgrade");
    append_field(out, "Upgrade", "websocket");
  } else if (persistence == Persistence::kClose) {
    append_field(out, "Connection", "close");
  }
}

std::string_view version_text(int version) { return version >= 11 ? "HTTP/1.1" : "HTTP/1.0"; }

}  // namespace

std::string request_head(const Head& head, const RequestOut& how) {
  std::string out = cat({head.method, " ", how.target, " ", version_text(head.version), "\r\n"});
  append_field(out, "Host", how.host);
  Headers headers = end_to_end(head.headers);
  std::erase_if(headers, [](const Header& header) { return is_proxy_header(header.name); });
  if (how.rule != nullptr) apply_rule(*how.rule, headers);
  for (const Header& header : headers) append_field(out, header.name, header.value);
  if (how.framing == Framing::kChunked) append_field(out, "Transfer-Encoding", "chunked");
  append_connection(out, how.persistence, how.upgrading);
  return out + "\r\n";
}

std::string response_head(const Head& head, const ResponseOut& how) {
  std::string out = fmt::format("HTTP/1.1 {} {}\r\n", head.status, head.reason);
  for (const Header& header : end_to_end(head.headers)) append_field(out, header.name, header.value);
  if (how.framing == Framing::kChunked) append_field(out, "Transfer-Encoding", "chunked");
  append_connection(out, how.persistence, how.upgrading);
  return out + "\r\n";
}

void append_body(std::string& out, std::string_view bytes, Framing framing) {
  if (bytes.empty()) return;
  if (framing != Framing::kChunked) {
    out += bytes;
    return;
  }
  fmt::format_to(std::back_inserter(out), "{:x}\r\n", bytes.size());
  out += bytes;
  out += "\r\n";
}

void append_end(std::string& out, const Headers& trailers, Framing framing) {
  if (framing != Framing::kChunked) return;
  out += "0\r\n";
  for (const Header& trailer : trailers) {
    if (!is_one_of(kNoTrailers, trailer.name)) append_field(out, trailer.name, trailer.value);
  }
  out += "\r\n";
}

std::string refusal_message(const Refusal& refusal, WithBody body) {
  std::string out = fmt::format("HTTP/1.1 {} {}\r\n", refusal.status, reason_phrase(refusal.status));
  append_field(out, "Content-Type", "text/plain; charset=utf-8");
  append_field(out, "Content-Length", std::to_string(refusal.text.size()));
  append_field(out, "X-Proxy-Error", refusal.error);
  append_field(out, "Connection", "close");
  out += "\r\n";
  if (body == WithBody::kYes) out += refusal.text;
  return out;
}

}  // namespace hutch::inspect
