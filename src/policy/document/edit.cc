// Edits of policies as JSON, in the order in which a person wrote them.
#include "policy/document/edit.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "policy/defaults.h"
#include "policy/document/reader.h"
#include "policy/json_check.h"
#include "policy/json_line.h"
#include "policy/keys.h"

namespace hutch::policy {

namespace {

using ordered_json = nlohmann::ordered_json;

struct Slot {
  const Key* key = nullptr;
  std::vector<std::string> path;  // of names in the file
  bool is_member = false;         // of a key that holds names, not the key itself
};

Result<ordered_json> object_of(std::string_view text);
Result<Slot> slot_of(const std::string& key);
Result<ordered_json> value_of(const Slot& slot, const std::string& text);
Result<ordered_json> item_of(const Slot& slot, const std::string& text);
Result<ordered_json*> place_of(ordered_json& root, const Slot& slot);
const ordered_json* find_path(const ordered_json& root, const std::vector<std::string>& path);
ordered_json* short_network(ordered_json& root, const Slot& slot);
Status add_item(ordered_json& root, const Slot& slot, const ordered_json& item);
Status remove(ordered_json& root, const Slot& slot, const ordered_json* item);
bool is_list(const Slot& slot);
bool same_item(const ordered_json& a, const ordered_json& b);
std::string text_of(const ordered_json& root) { return root.dump(2) + "\n"; }
std::string normal(std::string_view path);
std::size_t message_line(std::string_view text, std::vector<std::string> path, std::string_view message);
// Discarded: they differ otherwise. Null: in nothing.
ordered_json entries_beside(const ordered_json& base, const ordered_json& whole);
ordered_json items_beside(const ordered_json& base, const ordered_json& whole);
Status append_entries(ordered_json& to, const ordered_json& added, const std::string& key);
bool is_of_answers(const ordered_json& added);
ordered_json differs() { return ordered_json(ordered_json::value_t::discarded); }

}  // namespace

Result<std::string> edited(std::string_view policy, const Edit& edit) {
  ordered_json root = TRY(object_of(policy));
  const Slot slot = TRY(slot_of(edit.key));
  if (edit.kind != EditKind::kRemove && !edit.value)
    return fail(Error::invalid(cat({edit.key, ": a value is missing"})));
  switch (edit.kind) {
    case EditKind::kSet: {
      ordered_json value = TRY(value_of(slot, *edit.value));
      *TRY(place_of(root, slot)) = std::move(value);
      break;
    }
    case EditKind::kAdd: {
      const ordered_json item = TRY(item_of(slot, *edit.value));
      TRY(add_item(root, slot, item));
      break;
    }
    case EditKind::kRemove: {
      if (!edit.value) {
        TRY(remove(root, slot, nullptr));
        break;
      }
      const ordered_json item = TRY(item_of(slot, *edit.value));
      TRY(remove(root, slot, &item));
      break;
    }
  }
  return text_of(root);
}

Result<std::optional<std::string>> value_at(std::string_view policy, std::string_view key) {
  ordered_json root = TRY(object_of(policy));
  const Slot slot = TRY(slot_of(std::string(key)));
  const ordered_json* value = short_network(root, slot);
  if (value == nullptr) value = find_path(root, slot.path);
  if (value == nullptr) return std::optional<std::string>();
  return std::optional(value->dump());
}

std::optional<std::string> added_to(std::string_view base, std::string_view text) {
  const auto before = object_of(base);
  const auto whole = object_of(text);
  if (!before || !whole) return std::nullopt;
  const ordered_json added = entries_beside(*before, *whole);
  if (added.is_discarded() || !is_of_answers(added)) return std::nullopt;
  return added.is_null() ? std::string("{}") : added.dump();
}

Result<std::string> with_added(std::string_view policy, std::string_view added) {
  ordered_json root = TRY(object_of(policy));
  const ordered_json entries = TRY(object_of(added));
  TRY(append_entries(root, entries, ""));
  return root.dump(2) + "\n";
}

Result<std::string> default_with_first(std::string_view first, std::string_view default_json) {
  const auto added = added_to(default_policy_text(), default_json);
  return added ? with_added(first, *added) : Result<std::string>(std::string(default_json));
}

Result<std::vector<std::string>> project_paths(std::string_view projects) {
  const ordered_json root = TRY(object_of(projects));
  std::vector<std::string> paths;
  for (const auto& [path, entry] : root.items()) paths.push_back(path);
  return paths;
}

std::optional<std::string> covering_path(const std::vector<std::string>& paths, std::string_view directory) {
  const std::string* best = nullptr;
  for (const std::string& path : paths) {
    if (!path.starts_with('/') || !is_within(directory, normal(path))) continue;
    if (best == nullptr || normal(path).size() > normal(*best).size()) best = &path;
  }
  return best == nullptr ? std::nullopt : std::optional(*best);
}

Result<std::string> project_entry(std::string_view projects, const std::string& path) {
  const ordered_json root = TRY(object_of(projects));
  const auto found = root.find(path);
  if (found == root.end()) return fail(Error::not_found(cat({"no project ", printable(path)})));
  return text_of(*found);
}

Result<std::string> with_project(std::string_view projects, const std::string& path, std::string_view policy) {
  ordered_json root = TRY(object_of(projects));
  root[path] = TRY(object_of(policy));
  return text_of(root);
}

Status check_policy_text(std::string_view text, std::string_view source) {
  TRY_CTX(check_json(text), source);
  const auto policy = read_policy(text, source);
  if (policy) return {};
  const std::string_view message = std::string_view(policy.error().message).substr(source.size() + 2);
  const std::string line = std::to_string(message_line(text, {}, message));
  return fail({policy.error().code, 0, cat({source, ": line ", line, ": ", message})});
}

Status check_projects_text(std::string_view text, std::string_view source) {
  const ordered_json root = TRY_CTX(object_of(text), source);
  // The names of all, whichever is asked for.
  TRY(read_project(text, source, "/"));
  std::vector<std::string> seen;
  for (const auto& [path, entry] : root.items()) {
    if (std::ranges::find(seen, normal(path)) != seen.end()) {
      return fail(Error::invalid(cat({source, ": \"", printable(path), "\" is there twice"})));
    }
    seen.push_back(normal(path));
    const auto policy = read_policy(entry.dump(), "x");
    if (policy) continue;
    const std::string_view message = std::string_view(policy.error().message).substr(3);
    const std::string line = std::to_string(message_line(text, {path}, message));
    return fail({policy.error().code, 0, cat({source, ": line ", line, ": \"", printable(path), "\": ", message})});
  }
  return {};
}

namespace {

Result<ordered_json> object_of(std::string_view text) {
  TRY(check_json(text));
  ordered_json root = parse_ordered_json(text);
  if (!root.is_object()) return fail(Error::invalid("must be an object"));
  return root;
}

Result<Slot> slot_of(const std::string& key) {
  Slot slot;
  for (const std::string_view part : split(key, '.')) slot.path.emplace_back(part);
  slot.key = find_key(key);
  if (slot.key != nullptr) return slot;
  // The longest beginning that is a key with names of the user's in it; such a name may hold dots itself.
  for (std::size_t dot = key.rfind('.'); dot != std::string::npos && dot > 0; dot = key.rfind('.', dot - 1)) {
    const Key* holder = find_key(key.substr(0, dot));
    if (holder == nullptr) continue;
    if (holder->type != KeyType::kEnvironment && holder->type != KeyType::kStringMap) break;
    slot.key = holder;
    slot.is_member = true;
    slot.path.clear();
    for (const std::string_view part : split(holder->name, '.')) slot.path.emplace_back(part);
    slot.path.push_back(key.substr(dot + 1));
    return slot;
  }
  return fail(Error::invalid(unknown_key_message(key)));
}

Result<ordered_json> text_value(const Slot& slot, const std::string& text) {
  ordered_json value = text;
  const ordered_json again = parse_ordered_json(value.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
  if (again == value) return value;
  return fail(Error::invalid(cat({slot.key->name, ": \"", printable(text), "\" is not UTF-8, as JSON has to be"})));
}

Result<ordered_json> json_value(const Slot& slot, const std::string& text) {
  const auto checked = check_json(text);
  if (checked) {
    ordered_json value = parse_ordered_json(text);
    if (!value.is_discarded()) return value;
  }
  return fail(Error::invalid(
      cat({slot.key->name, ": must be ", name_of(slot.key->type), " as JSON, not \"", printable(text, 64), "\""})));
}

Result<ordered_json> value_of(const Slot& slot, const std::string& text) {
  if (slot.is_member) {
    if (slot.key->type == KeyType::kEnvironment && text == "true") return ordered_json(true);
    return text_value(slot, text);
  }
  switch (slot.key->type) {
    case KeyType::kString:
    case KeyType::kDuration:
    case KeyType::kSize:
    case KeyType::kCpus:
    case KeyType::kDnsDenial: return text_value(slot, text);
    case KeyType::kNetwork:
    case KeyType::kWords:
      if (!text.starts_with('{') && !text.starts_with('[')) return text_value(slot, text);
      break;
    default: break;
  }
  return json_value(slot, text);
}

Result<ordered_json> item_of(const Slot& slot, const std::string& text) {
  if (!is_list(slot)) {
    return fail(Error::invalid(cat({slot.key->name, " is ", name_of(slot.key->type), ", not a list; use set"})));
  }
  switch (slot.key->type) {
    case KeyType::kPorts:
    case KeyType::kHttpRules:
    case KeyType::kList: return json_value(slot, text);
    case KeyType::kPaths:
      if (text.starts_with('{')) return json_value(slot, text);
      break;
    default: break;
  }
  return text_value(slot, text);
}

bool is_list(const Slot& slot) {
  static constexpr std::array kLists = {KeyType::kStrings,   KeyType::kPaths, KeyType::kDomains,
                                        KeyType::kHttpRules, KeyType::kUdp,   KeyType::kPorts,
                                        KeyType::kPublished, KeyType::kList,  KeyType::kWords};
  return !slot.is_member && std::ranges::find(kLists, slot.key->type) != kLists.end();
}

// Makes the objects on the way.
Result<ordered_json*> place_of(ordered_json& root, const Slot& slot) {
  ordered_json* at = &root;
  std::string walked;
  for (const std::string& name : slot.path) {
    if (!at->is_object()) {
      // "network" may be a word or a list as well: what that meant is not for an edit to guess.
      return fail(Error::invalid(
          cat({walked, " is ", printable(at->dump(), 64), " here; set it to an object before its keys are changed"})));
    }
    walked += cat({walked.empty() ? "" : ".", name});
    const bool is_new = !at->contains(name);
    ordered_json& next = (*at)[name];
    if (is_new && &name != &slot.path.back()) next = ordered_json::object();
    at = &next;
  }
  return at;
}

const ordered_json* find_path(const ordered_json& root, const std::vector<std::string>& path) {
  const ordered_json* at = &root;
  for (const std::string& name : path) {
    if (!at->is_object()) return nullptr;
    const auto found = at->find(name);
    if (found == at->end()) return nullptr;
    at = &*found;
  }
  return at;
}

// A network that is written as a list is its allowedDomains.
ordered_json* short_network(ordered_json& root, const Slot& slot) {
  const auto network = root.find("network");
  const bool is_short = slot.key->name == "network.allowedDomains" && network != root.end() && network->is_array();
  return is_short ? &*network : nullptr;
}

Status add_item(ordered_json& root, const Slot& slot, const ordered_json& item) {
  ordered_json* list = short_network(root, slot);
  if (list == nullptr) list = TRY(place_of(root, slot));
  if (list->is_null()) *list = ordered_json::array();
  if (list->is_string()) *list = ordered_json::array({*list});
  if (!list->is_array()) return fail(Error::invalid(cat({slot.key->name, ": is not a list here"})));
  const bool there = std::ranges::any_of(*list, [&](const ordered_json& other) { return same_item(other, item); });
  if (!there) list->push_back(item);
  return {};
}

Status remove(ordered_json& root, const Slot& slot, const ordered_json* item) {
  const auto absent = [&](const std::string& what) {
    return fail(Error::not_found(cat({slot.key->name, ": ", printable(what), " is not there"})));
  };
  ordered_json* value = short_network(root, slot);
  if (value == nullptr) {
    if (find_path(root, slot.path) == nullptr) return absent(slot.path.back());
    value = TRY(place_of(root, slot));
  } else if (item == nullptr) {
    value->clear();
    return {};
  }
  if (item == nullptr) {
    ordered_json* holder = &root;
    for (std::size_t at = 0; at + 1 < slot.path.size(); ++at) holder = &(*holder)[slot.path[at]];
    holder->erase(slot.path.back());
    return {};
  }
  if (!value->is_array()) return fail(Error::invalid(cat({slot.key->name, ": is not a list here"})));
  const auto found = std::ranges::find_if(*value, [&](const ordered_json& other) { return same_item(other, *item); });
  if (found == value->end()) return absent(item->dump());
  value->erase(found);
  return {};
}

// {"path": P} and P are one entry; with "literal" it is another.
bool same_item(const ordered_json& a, const ordered_json& b) {
  const auto plain = [](const ordered_json& item) -> ordered_json {
    if (!item.is_object() || !item.contains("path")) return item;
    const bool literal = item.contains("literal") && item["literal"] == true;
    return literal ? item : item["path"];
  };
  return plain(a) == plain(b);
}

std::string normal(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return std::string(path);
}

// The reader begins its messages with the name of the key: "network.rules[0].host: ...".
std::size_t message_line(std::string_view text, std::vector<std::string> path, std::string_view message) {
  const std::string_view name = message.substr(0, message.find(": "));
  for (const std::string_view part : split(name, '.')) {
    const std::size_t bracket = part.find('[');
    path.emplace_back(part.substr(0, bracket));
    if (bracket != std::string_view::npos && part.ends_with(']')) {
      path.emplace_back(part.substr(bracket + 1, part.size() - bracket - 2));
    }
  }
  return line_of(text, path);
}

ordered_json entries_beside(const ordered_json& base, const ordered_json& whole) {
  if (whole.is_array()) return items_beside(base, whole);
  if (!whole.is_object() || !base.is_object()) return base == whole ? ordered_json() : differs();
  const auto is_there = [&](const auto& item) { return whole.contains(item.key()); };
  for (const auto& item : base.items()) {
    if (!is_there(item)) return differs();
  }
  ordered_json all;
  for (const auto& item : whole.items()) {
    const bool is_new = !base.contains(item.key());
    if (is_new && !item.value().is_array()) return differs();
    ordered_json more = entries_beside(is_new ? ordered_json::array() : base[item.key()], item.value());
    if (more.is_discarded()) return differs();
    if (!more.is_null()) all[item.key()] = std::move(more);
  }
  return all;
}

ordered_json items_beside(const ordered_json& base, const ordered_json& whole) {
  if (!base.is_array()) return differs();
  const auto has = [](const ordered_json& list, const ordered_json& item) {
    return std::ranges::find(list, item) != list.end();
  };
  for (const ordered_json& item : base) {
    if (!has(whole, item)) return differs();
  }
  ordered_json more;
  for (const ordered_json& item : whole) {
    if (!has(base, item)) more.push_back(item);
  }
  return more;
}

Status append_entries(ordered_json& to, const ordered_json& added, const std::string& key) {
  if (to.is_null()) to = added.is_array() ? ordered_json::array() : ordered_json::object();
  if (added.is_array() && to.is_array()) {
    for (const ordered_json& item : added) {
      if (std::ranges::find(to, item) == to.end()) to.push_back(item);
    }
    return {};
  }
  if (!added.is_object() || !to.is_object()) {
    return fail(Error::invalid(cat({key, " is no list, to which entries of default.json could be added"})));
  }
  for (const auto& item : added.items()) TRY(append_entries(to[item.key()], item.value(), item.key()));
  return {};
}

// Whether answers to questions can have added all of it. Entries in other lists are a person's own policy.
bool is_of_answers(const ordered_json& added) {
  static constexpr std::array<std::string_view, 4> kLists = {"filesystem.allowRead", "filesystem.allowWrite",
                                                             "network.allowedDomains", "network.allowUnixSockets"};
  if (added.is_null()) return true;
  for (const auto& [section, lists] : added.items()) {
    if (!lists.is_object()) return false;
    for (const auto& [name, entries] : lists.items()) {
      const std::string key = cat({section, ".", name});
      if (std::ranges::find(kLists, std::string_view(key)) == kLists.end()) return false;
    }
  }
  return true;
}

}  // namespace

}  // namespace hutch::policy
