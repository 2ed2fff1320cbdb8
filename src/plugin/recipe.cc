// Reading and rewriting recipes.
#include "plugin/recipe.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "base/sha256.h"
#include "base/text.h"
#include "base/utf8.h"
#include "plugin/recipe_parts.h"
#include "secret/secret.h"
#include "wire/json_guard.h"

namespace hutch::plugin {

namespace {

// Keeps the order of keys: a recipe that is exported reads as it was written.
using json = nlohmann::ordered_json;

bool is_lower(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

std::string dumped(const json& value, int indent = -1) {
  return value.dump(indent, ' ', false, json::error_handler_t::replace);
}

Result<Recipe> reread(const json& value) { return parse_recipe(dumped(value)); }

json parsed(const Recipe& recipe) { return json::parse(recipe.json, nullptr, false); }

Status read_files(const json& object, Recipe& recipe);
Status read_tools(const json& object, Recipe& recipe);
Status read_permissions(const json& object, Recipe& recipe);
Status read_rest(const json& object, Recipe& recipe);

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
  const json object = json::parse(text, nullptr, false);
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
  TRY(read_rest(object, recipe));
  recipe.json = dumped(object);
  return recipe;
}

std::string exported(const Recipe& recipe) { return dumped(parsed(recipe), 2) + "\n"; }

std::string content_hash(const Recipe& recipe) {
  nlohmann::json sorted = nlohmann::json::parse(recipe.json, nullptr, false);
  if (sorted.is_object()) sorted.erase("modifiedAt");
  Sha256 sum;
  sum.add(sorted.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  return sum.finish();
}

Result<Recipe> renamed(const Recipe& recipe, std::string_view name) {
  json object = parsed(recipe);
  object["name"] = name;
  object.erase("id");
  return reread(object);
}

Result<Recipe> with_files(const Recipe& recipe, const std::map<std::string, std::string>& files) {
  json object = parsed(recipe);
  for (const auto& [path, text] : files) {
    if (recipe.files.contains(path)) continue;
    TRY(check_file_path(path));
    object["files"][path] = text;
  }
  return reread(object);
}

Result<Recipe> restricted(const Recipe& recipe, std::string_view via) {
  json object = parsed(recipe);
  const bool listed = recipe.network.kind == NetworkPermission::Kind::kHosts;
  json permissions = object.contains("permissions") ? object["permissions"] : json::object();
  if (!permissions.is_object()) permissions = json::object();
  permissions["network"] = listed ? join(recipe.network.hosts, ",") : std::string("none");
  permissions["inference"] = false;
  object["permissions"] = std::move(permissions);
  if (!object.contains("metadata") || !object["metadata"].is_object()) object["metadata"] = json::object();
  object["metadata"]["created_by"] = "agent";
  object["metadata"]["created_via"] = via;
  return reread(object);
}

namespace {

// No file is another's directory as well.
Status read_files(const json& object, Recipe& recipe) {
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

Status read_tools(const json& object, Recipe& recipe) {
  const auto found = object.find("tools");
  if (found == object.end() || found->is_null()) return {};
  if (!found->is_array() || found->size() > kToolsMax) {
    return fail(Error::invalid(cat({"tools is a list of at most ", std::to_string(kToolsMax)})));
  }
  for (const json& one : *found) {
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

Status read_permissions(const json& object, Recipe& recipe) {
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

Status read_rest(const json& object, Recipe& recipe) {
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

}  // namespace

}  // namespace hutch::plugin
