// Names, values and hosts of secrets, and the text that they are kept as.
#include "secret/secret.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "base/base64.h"
#include "base/json.h"
#include "base/order_variables.h"
#include "base/text.h"
#include "base/utf8.h"
#include "policy/network/hosts.h"
#include "wire/json_guard.h"

namespace hutch::secret {

namespace {

using nlohmann::json;

struct NamedGiving {
  Giving giving;
  std::string_view name;
};
constexpr std::array kGivings = {NamedGiving{Giving::kBridge, "bridge"},
                                 NamedGiving{Giving::kEnvironment, "environment"},
                                 NamedGiving{Giving::kPlaceholder, "placeholder"}};

constexpr std::size_t kTextBytesMax = 32 << 20;
constexpr int kVersion = 1;
constexpr std::size_t kPlaceholderBytesMin = 16;
constexpr std::size_t kPlaceholderBytesMax = 4096;

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

Result<std::string> text_member(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) return fail(Error::invalid(cat({name, " is missing"})));
  return found->get<std::string>();
}

Status check_form(std::string_view name) {
  const bool fits = !name.empty() && name.size() <= kNameBytesMax && is_letter(name.front()) &&
                    std::ranges::all_of(name, [](char c) { return is_letter(c) || is_digit(c); });
  if (fits) return {};
  return fail(Error::invalid(
      cat({"\"", printable(name, 80), "\" is no name of a secret: letters, digits and _, first no digit, at most ",
           std::to_string(kNameBytesMax)})));
}

// It goes into header fields, and what stands for it in the sandbox is as long, and must not be found by chance.
Status check_placeholder(const std::string& value) {
  const bool fits = std::ranges::all_of(value, [](char c) { return c > ' ' && c <= '~'; });
  if (!fits) {
    return fail(Error::invalid(
        "the value of a placeholder is of printable ASCII without blanks: give another kind by --via bridge"));
  }
  if (value.size() >= kPlaceholderBytesMin && value.size() <= kPlaceholderBytesMax) return {};
  return fail(Error::invalid(cat({"the value of a placeholder has ", std::to_string(kPlaceholderBytesMin), " to ",
                                  std::to_string(kPlaceholderBytesMax), " bytes: give another by --via bridge"})));
}

// All but whether the name is one that may be given.
Result<Secret> judged(Secret secret) {
  TRY(check_form(secret.name));
  TRY(check_value(secret.value));
  if (secret.hosts.size() > kHostsMax) {
    return fail(Error::invalid(cat({"more than ", std::to_string(kHostsMax), " hosts"})));
  }
  std::set<std::string> hosts;
  for (const std::string& host : secret.hosts) {
    policy::Host canonical = TRY_CTX(policy::canonical_host(host), "host");
    if (canonical.address) {
      return fail(
          Error::invalid(cat({"host ", canonical.name, ": a secret is bound to names, which certificates show"})));
    }
    hosts.insert(std::move(canonical.name));
  }
  secret.hosts.assign(hosts.begin(), hosts.end());
  if (secret.giving == Giving::kPlaceholder && secret.hosts.empty()) {
    return fail(Error::invalid("a placeholder needs the hosts that the value is for: --host api.example.com"));
  }
  if (secret.giving == Giving::kPlaceholder) TRY(check_placeholder(secret.value));
  return secret;
}

Result<Secret> secret_of(const json& object) {
  if (!object.is_object() || object.size() != 5) return fail(Error::invalid("a secret has five members"));
  Secret secret;
  secret.name = TRY(text_member(object, "name"));
  const std::string giving = TRY(text_member(object, "giving"));
  secret.giving = TRY(parse_giving(giving));
  const std::string encoded = TRY(text_member(object, "value"));
  const auto value = from_base64(encoded);
  if (!value) return fail(Error::invalid("a value that is no base64"));
  secret.value = *value;
  const auto hosts = object.find("hosts");
  const auto set_at = object.find("setAt");
  if (hosts == object.end() || !hosts->is_array() || set_at == object.end() || !set_at->is_number_integer()) {
    return fail(Error::invalid("a secret's hosts, or its time, are missing"));
  }
  for (const json& host : *hosts) {
    if (!host.is_string()) return fail(Error::invalid("a host is text"));
    secret.hosts.push_back(host.get<std::string>());
  }
  secret.set_at = set_at->get<std::int64_t>();
  // Kept under a name that is refused by now it can be seen and removed still.
  return judged(std::move(secret));
}

}  // namespace

std::string_view name_of(Giving giving) { return std::ranges::find(kGivings, giving, &NamedGiving::giving)->name; }

Result<Giving> parse_giving(std::string_view name) {
  const auto found = std::ranges::find(kGivings, name, &NamedGiving::name);
  if (found != kGivings.end()) return found->giving;
  return fail(
      Error::invalid(cat({"\"", printable(name, 64), "\": a secret is given by bridge, environment or placeholder"})));
}

Status check_name(std::string_view name) {
  TRY(check_form(name));
  if (!takes_orders(name)) return {};
  return fail(Error::invalid(cat({"\"", name, "\" is a variable that programs take orders from: take another name"})));
}

Status check_value(std::string_view value) {
  if (value.empty()) return fail(Error::invalid("the value is empty"));
  if (value.size() > kValueBytesMax) {
    return fail(Error::invalid(cat({"the value has more than ", std::to_string(kValueBytesMax), " bytes"})));
  }
  if (value.contains('\0') || !is_utf8(value)) return fail(Error::invalid("the value is no text: UTF-8, without NUL"));
  return {};
}

Result<Secret> settled(Secret secret) {
  TRY(check_name(secret.name));
  return judged(std::move(secret));
}

std::string format_secrets(const std::vector<Secret>& secrets) {
  json list = json::array();
  for (const Secret& secret : secrets) {
    list.push_back({{"name", secret.name},
                    {"giving", name_of(secret.giving)},
                    {"hosts", secret.hosts},
                    {"value", to_base64(secret.value)},
                    {"setAt", secret.set_at}});
  }
  return json{{"version", kVersion}, {"secrets", std::move(list)}}.dump();
}

Result<std::vector<Secret>> parse_secrets(std::string_view text) {
  TRY(wire::check_json_shape(text, kTextBytesMax));
  const json root = parse_json(text);
  if (!root.is_object() || root.size() != 2) return fail(Error::invalid("no list of secrets"));
  const auto version = root.find("version");
  const auto list = root.find("secrets");
  if (version == root.end() || !version->is_number_integer() || version->get<std::int64_t>() != kVersion) {
    return fail(Error::unsupported("written by another version of hutch"));
  }
  if (list == root.end() || !list->is_array() || list->size() > kSecretsMax) {
    return fail(Error::invalid("no list of secrets"));
  }
  std::vector<Secret> secrets;
  for (const json& one : *list) secrets.push_back(TRY(secret_of(one)));
  return secrets;
}

}  // namespace hutch::secret
