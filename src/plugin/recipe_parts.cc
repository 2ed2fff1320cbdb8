// The members of a recipe: texts, dependencies, tools and their parameters, permissions.
#include "plugin/recipe_parts.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "base/utf8.h"
#include "policy/hosts.h"

namespace hutch::plugin::parts {

namespace {

using json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 3> kManagers = {"apk", "apt", "dnf"};
constexpr std::array kKinds = {Kind::kString,  Kind::kInteger, Kind::kNumber,
                               Kind::kBoolean, Kind::kArray,   Kind::kObject};

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

Status check_text(std::string_view key, const std::string& value, std::size_t bytes_max) {
  if (value.size() > bytes_max) {
    return fail(Error::invalid(cat({key, " is longer than ", std::to_string(bytes_max), " bytes"})));
  }
  if (value.contains('\0') || !is_utf8(value)) return fail(Error::invalid(cat({key, " is text without NUL"})));
  return {};
}

// "analyze_csv": what becomes part of a tool's name, or of a variable's.
Status check_word(std::string_view what, const std::string& word, std::string_view others) {
  const auto fits = [&](char c) { return is_letter(c) || is_digit(c) || others.contains(c); };
  const bool begins = !word.empty() && (is_letter(word.front()) || others.contains('-'));
  if (begins && word.size() <= kIdBytesMax && std::ranges::all_of(word, fits)) return {};
  return fail(Error::invalid(cat({what, " \"", printable(word, 64), "\": letters, digits and _", others,
                                  " alone, at most ", std::to_string(kIdBytesMax)})));
}

Result<Parameter> read_parameter(const std::string& name, const json& object);
Result<std::string> fallback_of(const json& value, const Parameter& parameter);
Status check_choices(const Parameter& parameter);

}  // namespace

Result<std::string> text(const json& object, const char* key, std::size_t bytes_max, Presence presence) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) {
    if (presence == Presence::kOptional) return std::string();
    return fail(Error::invalid(cat({key, " is missing"})));
  }
  const auto* value = found->get_ptr<const std::string*>();
  if (value == nullptr) return fail(Error::invalid(cat({key, " is no text"})));
  TRY(check_text(key, *value, bytes_max));
  const bool blank = value->find_first_not_of(" \t\r\n") == std::string::npos;
  if (presence == Presence::kRequired && blank) return fail(Error::invalid(cat({key, " is empty"})));
  return *value;
}

Result<std::vector<std::string>> texts(const json& object, const char* key, std::size_t bytes_max) {
  std::vector<std::string> all;
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return all;
  if (!found->is_array() || found->size() > kListMax) {
    return fail(Error::invalid(cat({key, " is a list of at most ", std::to_string(kListMax), " texts"})));
  }
  for (const json& one : *found) {
    const auto* value = one.get_ptr<const std::string*>();
    if (value == nullptr || value->empty()) return fail(Error::invalid(cat({key, " holds something that is no text"})));
    TRY(check_text(key, *value, bytes_max));
    if (std::ranges::find(all, *value) == all.end()) all.push_back(*value);
  }
  return all;
}

Status read_dependencies(const json& object, Recipe& recipe) {
  const auto found = object.find("dependencies");
  if (found == object.end() || found->is_null()) return {};
  if (found->is_array()) {
    recipe.is_plain_list = true;
    auto names = TRY(texts(object, "dependencies", kNameBytesMax));
    if (!names.empty()) recipe.dependencies.emplace("apk", std::move(names));
    return {};
  }
  if (!found->is_object()) return fail(Error::invalid("dependencies is a list, or an object of lists by manager"));
  for (const auto& [manager, names] : found->items()) {
    if (std::ranges::find(kManagers, manager) == kManagers.end()) {
      const auto near = nearest(manager, kManagers);
      return fail(Error::invalid(cat({"dependencies: there is no manager \"", printable(manager, 32), "\"",
                                      near ? cat({"; did you mean ", *near, "?"}) : "; apk, apt and dnf are known"})));
    }
    recipe.dependencies[manager] = TRY_CTX(texts(*found, manager.c_str(), kNameBytesMax), "dependencies");
  }
  return {};
}

Result<Tool> read_tool(const json& object) {
  if (!object.is_object()) return fail(Error::invalid("a tool is an object"));
  Tool tool;
  tool.id = TRY(text(object, "id", kNameBytesMax, Presence::kRequired));
  TRY(check_word("id", tool.id, "-"));
  tool.description = TRY(text(object, "description", kTextBytesMax, Presence::kRequired));
  tool.run = TRY(text(object, "run", kCommandBytesMax, Presence::kRequired));
  if (const auto timeout = object.find("timeout"); timeout != object.end() && !timeout->is_null()) {
    const std::int64_t seconds = timeout->is_number_integer() ? timeout->get<std::int64_t>() : 0;
    if (seconds < 1 || seconds > kToolTimeoutMax.count()) {
      return fail(
          Error::invalid(cat({"timeout is a number of seconds from 1 to ", std::to_string(kToolTimeoutMax.count())})));
    }
    tool.timeout = std::chrono::seconds(seconds);
  }
  if (const auto example = object.find("example"); example != object.end() && !example->is_null()) {
    if (!example->is_object()) return fail(Error::invalid("example is an object of arguments"));
    tool.example = example->dump(-1, ' ', false, json::error_handler_t::replace);
  }
  const auto parameters = object.find("parameters");
  if (parameters == object.end() || parameters->is_null()) return tool;
  if (!parameters->is_object() || parameters->size() > kParametersMax) {
    return fail(
        Error::invalid(cat({"parameters is an object of at most ", std::to_string(kParametersMax), " parameters"})));
  }
  for (const auto& [name, one] : parameters->items()) {
    Parameter parameter = TRY_CTX(read_parameter(name, one), cat({"parameters: ", printable(name, 64)}));
    const auto is_same = [&](const Parameter& other) { return variable_of(other.name) == variable_of(name); };
    const auto other = std::ranges::find_if(tool.parameters, is_same);
    if (other != tool.parameters.end()) {
      return fail(Error::invalid(cat({"parameters: ", name, " and ", other->name, " are one variable"})));
    }
    tool.parameters.push_back(std::move(parameter));
  }
  return tool;
}

Result<NetworkPermission> read_network(std::string_view given) {
  using Kind = NetworkPermission::Kind;
  if (given.empty() || given == "outbound") return NetworkPermission{};
  if (given == "none") return NetworkPermission{Kind::kNone, {}};
  NetworkPermission permission{Kind::kHosts, {}};
  for (std::string_view one : split(given, ',')) {
    while (one.starts_with(' ')) one.remove_prefix(1);
    while (one.ends_with(' ')) one.remove_suffix(1);
    const auto host = policy::canonical_host(one);
    if (!host || host->address || !host->name.contains('.') || host->name.contains('*')) {
      return fail(Error::invalid(cat({"permissions.network: \"", printable(one, 100),
                                      "\" is no domain; write outbound, none, or domains with commas between"})));
    }
    if (permission.hosts.size() == kListMax) {
      return fail(Error::invalid(cat({"permissions.network: more than ", std::to_string(kListMax), " domains"})));
    }
    permission.hosts.push_back(host->name);
  }
  return permission;
}

std::string where_it_fails(std::string_view text) {
  try {
    const json read = json::parse(text);
    (void)read;
  } catch (const json::parse_error& error) {
    const std::size_t at = std::min(error.byte, text.size());
    const auto line = 1 + std::ranges::count(text.substr(0, at), '\n');
    const std::string_view what = error.what();
    const std::size_t colon = what.find(": ");
    return cat({"the recipe is no JSON: line ", std::to_string(line), ": ",
                printable(colon == what.npos ? what : what.substr(colon + 2), 200)});
  } catch (const json::exception&) {
    return "the recipe is no JSON";
  }
  return "the recipe is no JSON";
}

namespace {

Result<Parameter> read_parameter(const std::string& name, const json& object) {
  TRY(check_word("a parameter's name", name, ""));
  if (!object.is_object()) return fail(Error::invalid("a parameter is an object with a type"));
  Parameter parameter{.name = name};
  const std::string kind = TRY(text(object, "type", kNameBytesMax, Presence::kRequired));
  const auto known = std::ranges::find(kKinds, std::string_view(kind), [](Kind one) { return name_of(one); });
  if (known == kKinds.end()) {
    return fail(Error::invalid(
        cat({"the type \"", printable(kind, 32), "\" is not known: string, integer, number, boolean, array, object"})));
  }
  parameter.kind = *known;
  parameter.description = TRY(text(object, "description", kTextBytesMax));
  parameter.choices = TRY(texts(object, "enum", kTextBytesMax));
  if (!parameter.choices.empty() && parameter.kind != Kind::kString) {
    return fail(Error::invalid("enum is of a string"));
  }
  const auto fallback = object.find("default");
  if (fallback == object.end() || fallback->is_null()) return parameter;
  parameter.fallback = TRY(fallback_of(*fallback, parameter));
  TRY(check_choices(parameter));
  return parameter;
}

// The seed's are texts whatever the type; one of the type itself is taken as well.
Result<std::string> fallback_of(const json& value, const Parameter& parameter) {
  std::string shown =
      value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, json::error_handler_t::replace);
  TRY(check_text("default", shown, kCommandBytesMax));
  if (parameter.kind == Kind::kString) {
    if (value.is_string() || value.is_number() || value.is_boolean()) return shown;
    return fail(Error::invalid("default is no text"));
  }
  const json read = value.is_string() ? json::parse(shown, nullptr, false) : value;
  const bool fits = (parameter.kind == Kind::kInteger && read.is_number_integer()) ||
                    (parameter.kind == Kind::kNumber && read.is_number()) ||
                    (parameter.kind == Kind::kBoolean && read.is_boolean()) ||
                    (parameter.kind == Kind::kArray && read.is_array()) ||
                    (parameter.kind == Kind::kObject && read.is_object());
  if (fits) return shown;
  return fail(Error::invalid(cat({"default \"", printable(shown, 64), "\" is no ", name_of(parameter.kind)})));
}

Status check_choices(const Parameter& parameter) {
  const auto& choices = parameter.choices;
  if (choices.empty() || std::ranges::find(choices, *parameter.fallback) != choices.end()) return {};
  return fail(Error::invalid(cat({"default \"", printable(*parameter.fallback, 64), "\" is none of enum"})));
}

}  // namespace

}  // namespace hutch::plugin::parts
