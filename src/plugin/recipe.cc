// Reading and rewriting recipes.
#include "plugin/recipe.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/utf8.h"
#include "policy/network/hosts.h"
#include "secret/secret.h"
#include "wire/json_guard.h"

namespace hutch::plugin {

namespace {

// Keeps the order of keys: a recipe that is exported reads as it was written.
using ordered_json = nlohmann::ordered_json;

namespace parts {

enum class Presence { kOptional, kRequired };

// Of an absent one "".
Result<std::string> text(const ordered_json& object, const char* key, std::size_t bytes_max,
                         Presence presence = Presence::kOptional);
Result<std::vector<std::string>> texts(const ordered_json& object, const char* key, std::size_t bytes_max);

Status read_dependencies(const ordered_json& object, Recipe& recipe);
Result<Tool> read_tool(const ordered_json& object);
// "outbound", "none", "a.com,b.com".
Result<NetworkPermission> read_network(std::string_view text);

// Of JSON that is none: the line, and what is wrong there.
std::string where_it_fails(std::string_view text);

}  // namespace parts

bool is_lower(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

std::string dumped(const ordered_json& value, int indent = -1) {
  return value.dump(indent, ' ', false, ordered_json::error_handler_t::replace);
}

Result<Recipe> reread(const ordered_json& value) { return parse_recipe(dumped(value)); }

ordered_json parsed(const Recipe& recipe) { return parse_ordered_json(recipe.json); }

// In what is UTF-8, by its first byte.
std::size_t character_size(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

char32_t code_point(std::string_view character) {
  const auto first = static_cast<unsigned char>(character.front());
  if (character.size() == 1) return first;
  char32_t point = first & (0xffU >> (character.size() + 1));
  for (const char c : character.substr(1)) point = (point << 6U) | (static_cast<unsigned char>(c) & 0x3fU);
  return point;
}

// Controls of terminals (ECMA-48; also those of one character), of the direction, and what has no width. A line end is
// the recipe's own.
bool is_hidden(char32_t point) {
  static constexpr std::array<std::pair<char32_t, char32_t>, 10> kRanges = {{{0x7f, 0x9f},
                                                                             {0xad, 0xad},
                                                                             {0x61c, 0x61c},
                                                                             {0x180e, 0x180e},
                                                                             {0x200b, 0x200f},
                                                                             {0x2028, 0x202e},
                                                                             {0x2060, 0x206f},
                                                                             {0xfeff, 0xfeff},
                                                                             {0xfff9, 0xfffb},
                                                                             {0xe0000, 0xe0fff}}};
  return std::ranges::any_of(kRanges, [&](const auto& range) { return point >= range.first && point <= range.second; });
}

Status read_files(const ordered_json& object, Recipe& recipe);
Status read_tools(const ordered_json& object, Recipe& recipe);
Status read_permissions(const ordered_json& object, Recipe& recipe);
Status read_events(const ordered_json& object, Recipe& recipe);
Status read_rest(const ordered_json& object, Recipe& recipe);

}  // namespace

Result<std::string> id_of(std::string_view name) {
  std::string id;
  for (const char c : name) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    id += lower == ' ' || lower == '_' ? '-' : lower;
  }
  TRY_CTX(check_id(id), cat({"the name \"", printable(name, 64), "\" makes no id; give the recipe an `id`"}));
  return id;
}

Status check_id(std::string_view id) {
  // Those that hutch's own tools and events begin with.
  static constexpr std::array<std::string_view, 4> kReserved = {"sandbox", "share", "hutch", "osaurus"};
  const auto fits = [](char c) { return is_lower(c) || c == '-'; };
  if (id.empty() || id.size() > kIdBytesMax || !is_lower(id.front()) || id.ends_with('-') ||
      !std::ranges::all_of(id, fits)) {
    return fail(Error::invalid(
        cat({"\"", printable(id, 64), "\" is no id of a plugin: small letters, digits and - alone, at most ",
             std::to_string(kIdBytesMax), ", with a letter or digit at both ends"})));
  }
  if (std::ranges::find(kReserved, id) == kReserved.end()) return {};
  return fail(Error::invalid(cat({"\"", id, "\" is taken by tools of hutch's own"})));
}

Status check_file_path(std::string_view path) {
  const auto wrong = [&](std::string_view why) {
    return fail(Error::invalid(cat({"files: \"", printable(path, 100), "\" ", why})));
  };
  if (path.empty() || path.size() > kFilePathBytesMax) return wrong("is empty or too long");
  if (!is_utf8(path)) return wrong("is no UTF-8");
  if (std::ranges::any_of(path, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f || c == '\\'; })) {
    return wrong("has control characters or backslashes");
  }
  const auto parts = split(path, '/');
  if (parts.size() > kFileDepthMax) return wrong("lies too deep");
  for (const std::string_view part : parts) {
    if (part.empty()) return wrong("is no relative path of a file");
    if (part == "." || part == "..") return wrong("leads elsewhere: . and .. are not taken");
  }
  return {};
}

bool is_event_type(std::string_view type) {
  const auto fits = [](char c) {
    return is_lower(c) || (c >= 'A' && c <= 'Z') || std::string_view("._:-").contains(c);
  };
  return !type.empty() && type.size() <= kEventBytesMax && std::ranges::all_of(type, fits);
}

std::string variable_of(std::string_view parameter) {
  std::string name = "PARAM_";
  for (const char c : parameter) name += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return name;
}

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::kString: return "string";
    case Kind::kInteger: return "integer";
    case Kind::kNumber: return "number";
    case Kind::kBoolean: return "boolean";
    case Kind::kArray: return "array";
    case Kind::kObject: return "object";
  }
  return "string";
}

Result<Recipe> parse_recipe(std::string_view text) {
  TRY_CTX(wire::check_json_shape(text, kRecipeBytesMax), "the recipe");
  const ordered_json object = parse_ordered_json(text);
  if (object.is_discarded()) return fail(Error::invalid(parts::where_it_fails(text)));
  if (!object.is_object()) return fail(Error::invalid("the recipe is no JSON object"));
  Recipe recipe;
  recipe.name = TRY(parts::text(object, "name", kNameBytesMax, parts::Presence::kRequired));
  recipe.description = TRY(parts::text(object, "description", kTextBytesMax, parts::Presence::kRequired));
  recipe.version = TRY(parts::text(object, "version", kNameBytesMax));
  recipe.author = TRY(parts::text(object, "author", kTextBytesMax));
  recipe.source = TRY(parts::text(object, "source", kTextBytesMax));
  recipe.setup = TRY(parts::text(object, "setup", kCommandBytesMax));
  recipe.id = TRY(parts::text(object, "id", kNameBytesMax));
  if (recipe.id.empty()) recipe.id = TRY(id_of(recipe.name));
  TRY(check_id(recipe.id));
  TRY(parts::read_dependencies(object, recipe));
  TRY(read_files(object, recipe));
  TRY(read_tools(object, recipe));
  recipe.secrets = TRY(parts::texts(object, "secrets", kNameBytesMax));
  for (const std::string& name : recipe.secrets) TRY_CTX(secret::check_name(name), "secrets");
  TRY(read_permissions(object, recipe));
  TRY(read_events(object, recipe));
  TRY(read_rest(object, recipe));
  recipe.json = dumped(object);
  return recipe;
}

// What a terminal obeys, what turns the order of what is shown around, and what shows nothing is written by its number:
// the same recipe, as it reads. No character outside a string of JSON is one of these.
std::string exported(const Recipe& recipe) {
  const std::string text = dumped(parsed(recipe), 2) + "\n";
  std::string made;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view character = rest.substr(0, character_size(rest.front()));
    if (is_hidden(code_point(character))) {
      const std::string escaped = ordered_json(character).dump(-1, ' ', true, ordered_json::error_handler_t::replace);
      made += std::string_view(escaped).substr(1, escaped.size() - 2);
    } else {
      made += character;
    }
    rest.remove_prefix(character.size());
  }
  return made;
}

std::string content_hash(const Recipe& recipe) {
  nlohmann::json sorted = parse_json(recipe.json);
  if (sorted.is_object()) sorted.erase("modifiedAt");
  Sha256 sum;
  sum.add(sorted.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  return sum.finish();
}

Result<Recipe> renamed(const Recipe& recipe, std::string_view name) {
  ordered_json object = parsed(recipe);
  object["name"] = name;
  object.erase("id");
  return reread(object);
}

Result<Recipe> with_files(const Recipe& recipe, const std::map<std::string, std::string>& files) {
  ordered_json object = parsed(recipe);
  for (const auto& [path, text] : files) {
    if (recipe.files.contains(path)) continue;
    TRY(check_file_path(path));
    object["files"][path] = text;
  }
  return reread(object);
}

Result<Recipe> restricted(const Recipe& recipe, std::string_view via) {
  ordered_json object = parsed(recipe);
  const bool listed = recipe.network.kind == NetworkPermission::Kind::kHosts;
  ordered_json permissions = object.contains("permissions") ? object["permissions"] : ordered_json::object();
  if (!permissions.is_object()) permissions = ordered_json::object();
  permissions["network"] = listed ? join(recipe.network.hosts, ",") : std::string("none");
  permissions["inference"] = false;
  object["permissions"] = std::move(permissions);
  if (!object.contains("metadata") || !object["metadata"].is_object()) object["metadata"] = ordered_json::object();
  object["metadata"]["created_by"] = "agent";
  object["metadata"]["created_via"] = via;
  return reread(object);
}

namespace {

// No file is another's directory as well.
Status read_files(const ordered_json& object, Recipe& recipe) {
  const auto found = object.find("files");
  if (found == object.end() || found->is_null()) return {};
  if (!found->is_object()) return fail(Error::invalid("files is an object of texts by relative path"));
  if (found->size() > kFilesMax) {
    return fail(Error::invalid(cat({"files: more than ", std::to_string(kFilesMax)})));
  }
  std::set<std::string, std::less<>> directories;
  for (const auto& [path, content] : found->items()) {
    TRY(check_file_path(path));
    const auto* text = content.get_ptr<const std::string*>();
    if (text == nullptr) return fail(Error::invalid(cat({"files: \"", printable(path, 100), "\" is no text"})));
    if (text->size() > kFileBytesMax) {
      return fail(Error::invalid(
          cat({"files: \"", printable(path, 100), "\" is larger than ", std::to_string(kFileBytesMax >> 10), " KiB"})));
    }
    recipe.files.emplace(path, *text);
    for (std::size_t at = path.find('/'); at != std::string::npos; at = path.find('/', at + 1)) {
      directories.insert(path.substr(0, at));
    }
  }
  for (const auto& [path, text] : recipe.files) {
    if (!directories.contains(path)) continue;
    return fail(Error::invalid(cat({"files: \"", printable(path, 100), "\" is a file and a directory"})));
  }
  return {};
}

Status read_tools(const ordered_json& object, Recipe& recipe) {
  const auto found = object.find("tools");
  if (found == object.end() || found->is_null()) return {};
  if (!found->is_array() || found->size() > kToolsMax) {
    return fail(Error::invalid(cat({"tools is a list of at most ", std::to_string(kToolsMax)})));
  }
  for (const ordered_json& one : *found) {
    const std::string where = cat({"tools[", std::to_string(recipe.tools.size()), "]"});
    Tool tool = TRY_CTX(parts::read_tool(one), where);
    const auto is_same = [&](const Tool& other) { return other.id == tool.id; };
    if (std::ranges::any_of(recipe.tools, is_same)) {
      return fail(Error::invalid(cat({where, ": the id ", tool.id, " is taken"})));
    }
    if (recipe.id.size() + 1 + tool.id.size() > kToolNameBytesMax) {
      return fail(Error::invalid(cat(
          {where, ": ", recipe.id, "_", tool.id, " is longer than ", std::to_string(kToolNameBytesMax), " bytes"})));
    }
    recipe.tools.push_back(std::move(tool));
  }
  return {};
}

Status read_permissions(const ordered_json& object, Recipe& recipe) {
  const auto found = object.find("permissions");
  if (found == object.end() || found->is_null()) return {};
  if (!found->is_object()) return fail(Error::invalid("permissions is an object"));
  const std::string network = TRY(parts::text(*found, "network", kTextBytesMax));
  recipe.network = TRY(parts::read_network(network));
  const auto inference = found->find("inference");
  if (inference == found->end() || inference->is_null()) return {};
  if (!inference->is_boolean()) return fail(Error::invalid("permissions.inference is true or false"));
  recipe.inference = inference->get<bool>();
  return {};
}

// A tool that is called with an event gets nothing else.
Status check_event_tool(const Recipe& recipe) {
  const Events& events = recipe.events;
  if (events.tool.empty()) return {};
  const auto tool = std::ranges::find(recipe.tools, events.tool, &Tool::id);
  if (tool == recipe.tools.end()) {
    return fail(Error::invalid(cat({"onEvent: there is no tool ", printable(events.tool, 64)})));
  }
  if (events.subscribe.empty()) return fail(Error::invalid("onEvent: events.subscribe says of which"));
  for (const Parameter& parameter : tool->parameters) {
    if (parameter.fallback || parameter.name == "payload") continue;
    return fail(Error::invalid(
        cat({"onEvent: the tool ", events.tool, " requires ", parameter.name, ", and is given the payload alone"})));
  }
  return {};
}

Status read_events(const ordered_json& object, Recipe& recipe) {
  recipe.events.tool = TRY(parts::text(object, "onEvent", kNameBytesMax));
  const auto found = object.find("events");
  if (found != object.end() && !found->is_null()) {
    if (!found->is_object()) return fail(Error::invalid("events is an object of the lists subscribe and emit"));
    recipe.events.subscribe = TRY_CTX(parts::texts(*found, "subscribe", kEventBytesMax), "events");
    recipe.events.emit = TRY_CTX(parts::texts(*found, "emit", kEventBytesMax), "events");
  }
  for (const auto* types : {&recipe.events.subscribe, &recipe.events.emit}) {
    const auto wrong = std::ranges::find_if_not(*types, is_event_type);
    if (wrong == types->end()) continue;
    return fail(Error::invalid(cat({"events: \"", printable(*wrong, 64),
                                    "\" is no type of an event: letters, digits "
                                    "and . _ : - alone"})));
  }
  return check_event_tool(recipe);
}

Status read_rest(const ordered_json& object, Recipe& recipe) {
  recipe.needs = TRY(parts::texts(object, "needs", kTextBytesMax));
  const auto metadata = object.find("metadata");
  if (metadata != object.end() && metadata->is_object()) {
    recipe.created_by = TRY_CTX(parts::text(*metadata, "created_by", kNameBytesMax), "metadata");
  }
  for (const char* key : {"mcp", "daemon"}) {
    if (!object.contains(key)) continue;
    recipe.notes.push_back(cat({key, ": is kept, and not started: hutch starts nothing of a plugin but its tools"}));
  }
  return {};
}

// --- the members, one by one ---

namespace parts {

namespace {

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

Result<Parameter> read_parameter(const std::string& name, const ordered_json& object);
Result<std::string> fallback_of(const ordered_json& value, const Parameter& parameter);
Status check_choices(const Parameter& parameter);

}  // namespace

Result<std::string> text(const ordered_json& object, const char* key, std::size_t bytes_max, Presence presence) {
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

Result<std::vector<std::string>> texts(const ordered_json& object, const char* key, std::size_t bytes_max) {
  std::vector<std::string> all;
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return all;
  if (!found->is_array() || found->size() > kListMax) {
    return fail(Error::invalid(cat({key, " is a list of at most ", std::to_string(kListMax), " texts"})));
  }
  for (const ordered_json& one : *found) {
    const auto* value = one.get_ptr<const std::string*>();
    if (value == nullptr || value->empty()) return fail(Error::invalid(cat({key, " holds something that is no text"})));
    TRY(check_text(key, *value, bytes_max));
    if (std::ranges::find(all, *value) == all.end()) all.push_back(*value);
  }
  return all;
}

Status read_dependencies(const ordered_json& object, Recipe& recipe) {
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

Result<Tool> read_tool(const ordered_json& object) {
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
    tool.example = example->dump(-1, ' ', false, ordered_json::error_handler_t::replace);
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
    const ordered_json read = ordered_json::parse(text);
    (void)read;
  } catch (const ordered_json::parse_error& error) {
    const std::size_t at = std::min(error.byte, text.size());
    const auto line = 1 + std::ranges::count(text.substr(0, at), '\n');
    const std::string_view what = error.what();
    const std::size_t colon = what.find(": ");
    return cat({"the recipe is no JSON: line ", std::to_string(line), ": ",
                printable(colon == what.npos ? what : what.substr(colon + 2), 200)});
  } catch (const ordered_json::exception&) {
    return "the recipe is no JSON";
  }
  return "the recipe is no JSON";
}

namespace {

Result<Parameter> read_parameter(const std::string& name, const ordered_json& object) {
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
Result<std::string> fallback_of(const ordered_json& value, const Parameter& parameter) {
  std::string shown =
      value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  TRY(check_text("default", shown, kCommandBytesMax));
  if (parameter.kind == Kind::kString) {
    if (value.is_string() || value.is_number() || value.is_boolean()) return shown;
    return fail(Error::invalid("default is no text"));
  }
  const ordered_json read = value.is_string() ? parse_ordered_json(shown) : value;
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

}  // namespace parts

}  // namespace

}  // namespace hutch::plugin
