// HTTP requests and answers as values.
#include "server/protocol/http_message.h"

#include <algorithm>

#include "base/text.h"
#include "tool/value.h"

namespace hutch::server::http {

namespace {

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char small = ascii_lower(c);
  return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

enum class Plus { kItself, kSpace };  // of a query a plus sign is a space (application/x-www-form-urlencoded)

std::optional<std::string> decoded(std::string_view text, Plus plus) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus == Plus::kSpace) {
      bytes += ' ';
      continue;
    }
    if (text[i] != '%') {
      bytes += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = digit_of(text[i + 1]);
    const int low = digit_of(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return bytes;
}

}  // namespace

const std::string* Request::field(std::string_view lower_name) const {
  const auto found = std::ranges::find(fields, lower_name, &Field::name);
  return found == fields.end() ? nullptr : &found->value;
}

Refusal refusal_of(const Error& error) {
  switch (error.code) {
    case Code::kInvalidArgument: return {400, "invalid_argument", error.message};
    case Code::kNotFound: return {404, "not_found", error.message};
    case Code::kPermissionDenied: return {403, "permission_denied", error.message};
    case Code::kConflict: return {409, "conflict", error.message};
    case Code::kUnsupported: return {422, "unsupported", error.message};
    case Code::kTimeout: return {504, "timeout", error.message};
    case Code::kSystem: break;
  }
  return {500, "internal", error.message};
}

Answer json_answer(int status, std::string json) { return {.status = status, .body = std::move(json) + "\n"}; }

Answer answer_of(const Refusal& refusal) {
  using tool::Value;
  const Value::Object inner{{"code", refusal.code}, {"message", refusal.message}};
  return json_answer(refusal.status, tool::json_text(Value(Value::Object{{"error", inner}})));
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 100: return "Continue";
    case 101: return "Switching Protocols";
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 413: return "Content Too Large";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 421: return "Misdirected Request";
    case 422: return "Unprocessable Content";
    case 426: return "Upgrade Required";
    case 431: return "Request Header Fields Too Large";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    default: return status < 500 ? "Error" : "Internal Server Error";
  }
}

const std::string* Target::parameter(std::string_view name) const {
  const auto found = std::ranges::find(query, name, &Field::name);
  return found == query.end() ? nullptr : &found->value;
}

std::optional<Target> parse_target(std::string_view target) {
  if (!target.starts_with('/')) return std::nullopt;
  target = target.substr(0, target.find('#'));
  const std::size_t mark = target.find('?');
  Target parsed;
  for (const std::string_view part : split(target.substr(1, mark == std::string_view::npos ? mark : mark - 1), '/')) {
    auto segment = decoded(part, Plus::kItself);
    if (!segment || segment->contains('\0')) return std::nullopt;
    parsed.segments.push_back(std::move(*segment));
  }
  if (mark == std::string_view::npos) return parsed;
  for (const std::string_view pair : split(target.substr(mark + 1), '&')) {
    const std::size_t equals = pair.find('=');
    auto name = decoded(pair.substr(0, equals), Plus::kSpace);
    auto value = decoded(equals == std::string_view::npos ? "" : pair.substr(equals + 1), Plus::kSpace);
    if (!name || !value || value->contains('\0')) return std::nullopt;
    parsed.query.push_back({std::move(*name), std::move(*value)});
  }
  return parsed;
}

bool lists_value(std::string_view field, std::string_view wanted) {
  return std::ranges::any_of(split(field, ','), [&](std::string_view one) {
    return equal_ignoring_case(trimmed(one.substr(0, one.find(';'))), wanted);
  });
}

char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, ascii_lower, ascii_lower);
}

}  // namespace hutch::server::http
