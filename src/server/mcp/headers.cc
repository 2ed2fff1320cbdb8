// The headers of streamable HTTP that say again what is in a request's body.
#include "server/mcp/headers.h"

#include <algorithm>

#include "base/base64.h"
#include "base/text.h"
#include "server/mcp/writer.h"

namespace hutch::server::mcp {

namespace {

RpcError mismatch(const Incoming& message, std::string_view header, std::string_view what) {
  return {code::kHeaderMismatch, cat({"Header mismatch: ", header, " ", what}), message.id};
}

std::optional<RpcError> compare(const Incoming& message, std::string_view header,
                                const std::optional<std::string>& value, const std::string& expected) {
  if (!value) return mismatch(message, header, "is missing");
  if (*value == expected) return std::nullopt;
  return mismatch(message, header,
                  cat({"'", printable(*value, 200), "' does not match the body's '", printable(expected, 200), "'"}));
}

// A value that a header cannot hold comes as =?base64?...?=.
std::optional<std::string> decoded_header(const std::optional<std::string>& value) {
  static constexpr std::string_view kBegin = "=?base64?";
  static constexpr std::string_view kEnd = "?=";
  if (!value || !value->starts_with(kBegin) || !value->ends_with(kEnd)) return value;
  if (value->size() < kBegin.size() + kEnd.size()) return value;
  return from_base64(std::string_view(*value).substr(kBegin.size(), value->size() - kBegin.size() - kEnd.size()));
}

}  // namespace

std::optional<RpcError> check_headers(const Incoming& message, const HttpHeaders& headers) {
  if (!message.meta.version) {
    if (!headers.version || is_legacy(*headers.version)) return std::nullopt;
    if (*headers.version == kModernVersion) {
      return mismatch(message, "MCP-Protocol-Version", "is not in the body's _meta");
    }
    return RpcError{code::kUnsupportedVersion, "Unsupported protocol version", message.id,
                    version_data(supported_versions(), *headers.version)};
  }
  if (auto wrong = compare(message, "MCP-Protocol-Version", headers.version, *message.meta.version)) return wrong;
  if (auto wrong = compare(message, "Mcp-Method", headers.method, message.method)) return wrong;
  if (message.method == "tools/call" && message.name) {
    return compare(message, "Mcp-Name", decoded_header(headers.name), *message.name);
  }
  if (message.method == "resources/read" && message.uri) {
    return compare(message, "Mcp-Name", decoded_header(headers.name), *message.uri);
  }
  return std::nullopt;
}

std::vector<std::string> supported_versions() {
  std::vector<std::string> versions = {std::string(kModernVersion)};
  versions.insert(versions.end(), kLegacyVersions.begin(), kLegacyVersions.end());
  return versions;
}

}  // namespace hutch::server::mcp
