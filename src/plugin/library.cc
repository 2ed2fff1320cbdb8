// The library on disk.
#include "plugin/library.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/decimal.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "sys/files/beneath.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"
#include "sys/files/whole_file.h"
#include "wire/json_guard.h"

namespace hutch::plugin {

namespace {

using nlohmann::json;

constexpr std::string_view kHead = "entry.json";
constexpr std::string_view kByAgent = "agent ";
// Pretty texts are longer than what was read.
constexpr std::size_t kFileMax = 2 * kRecipeBytesMax;

std::string library_text(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Error no_version(const std::string& id, int number) {
  return Error::not_found(cat({"plugin ", id, " has no version ", std::to_string(number)}));
}

}  // namespace

std::string Library::place(const std::string& id) const { return cat({directory_, "/", id}); }

std::string Library::file_of(const std::string& id, int number) const {
  return cat({place(id), "/", std::to_string(number), ".json"});
}

Status Library::repair() {
  const std::scoped_lock lock(mutex_);
  for (const std::string& name : TRY(names())) {
    if (check_id(name) && sys::exists(cat({place(name), "/", kHead}))) continue;
    TRY_CTX(sys::remove_tree(place(name)), "remove what is no plugin of the library");
  }
  return {};
}

Result<std::vector<std::string>> Library::names() const {
  std::vector<std::string> found;
  if (!TRY(sys::status_of(directory_))) return found;
  const UniqueFd opened = TRY(sys::open_listing(directory_));
  for (const auto& entry : TRY(sys::names_in(opened.get(), directory_))) found.push_back(entry.name);
  std::ranges::sort(found);
  return found;
}

// One that cannot be read hides no other.
Result<std::vector<Entry>> Library::list() const {
  const std::scoped_lock lock(mutex_);
  std::vector<Entry> all;
  for (const std::string& name : TRY(names())) {
    if (!check_id(name)) continue;
    auto entry = read(name);
    if (entry && *entry) all.push_back(std::move(**entry));
  }
  return all;
}

Result<std::vector<Library::Damaged>> Library::damaged() const {
  const std::scoped_lock lock(mutex_);
  std::vector<Damaged> found;
  for (const std::string& name : TRY(names())) {
    if (!check_id(name)) continue;
    if (const auto entry = read(name); !entry) found.push_back({name, entry.error().message});
  }
  return found;
}

Result<std::optional<Entry>> Library::find(const std::string& id) const {
  TRY(check_id(id));
  const std::scoped_lock lock(mutex_);
  return read(id);
}

Result<std::optional<Entry>> Library::read(const std::string& id) const {
  const auto found = TRY(head(id));
  if (!found) return std::optional<Entry>();
  std::vector<int> known = TRY(versions(id));
  Recipe recipe = TRY(read_version(id, found->current));
  return std::optional<Entry>(Entry{.id = id,
                                    .current = found->current,
                                    .versions = std::move(known),
                                    .origin = found->origin,
                                    .recipe = std::move(recipe)});
}

Result<Recipe> Library::version(const std::string& id, int number) const {
  TRY(check_id(id));
  const std::scoped_lock lock(mutex_);
  return read_version(id, number);
}

Result<Recipe> Library::read_version(const std::string& id, int number) const {
  const std::string path = file_of(id, number);
  if (!TRY(sys::status_of(path))) return fail(no_version(id, number));
  const std::string text = TRY(sys::regular_file_text(path, kFileMax));
  return TRY_CTX(parse_recipe(text), path);
}

Result<std::vector<int>> Library::versions(const std::string& id) const {
  std::vector<int> found;
  const UniqueFd opened = TRY(sys::open_listing(place(id)));
  for (const auto& entry : TRY(sys::names_in(opened.get(), place(id)))) {
    const std::string_view name = entry.name;
    if (!name.ends_with(".json")) continue;
    const auto number = decimal_of(name.substr(0, name.size() - 5));
    if (number && *number > 0 && *number < 1'000'000) found.push_back(static_cast<int>(*number));
  }
  std::ranges::sort(found);
  return found;
}

Result<std::optional<Library::Head>> Library::head(const std::string& id) const {
  const std::string path = cat({place(id), "/", kHead});
  if (!TRY(sys::status_of(path))) return std::optional<Head>();
  const std::string text = TRY(sys::regular_file_text(path, limits::kJsonBytesMax));
  TRY_CTX(wire::check_json_shape(text, limits::kJsonBytesMax), path);
  const json object = parse_json(text);
  const auto current = object.is_object() ? object.find("current") : object.end();
  if (!object.is_object() || current == object.end() || !current->is_number_integer()) {
    return fail(Error::invalid(cat({path, " is no entry of the library: remove its directory"})));
  }
  const auto is_new = object.find("new");
  const auto rolled = object.find("rolled_from");
  return std::optional<Head>(
      Head{.current = current->get<int>(),
           .origin = {.from = library_text(object, "from"),
                      .time = library_text(object, "time"),
                      .is_new = is_new != object.end() && is_new->is_boolean() && is_new->get<bool>()},
           .rolled_from = rolled != object.end() && rolled->is_number_integer() ? rolled->get<int>() : 0,
           .rolled_origin = library_text(object, "rolled_origin")});
}

Status Library::write_head(const std::string& id, const Head& head) const {
  json object = {
      {"current", head.current}, {"from", head.origin.from}, {"time", head.origin.time}, {"new", head.origin.is_new}};
  if (head.rolled_from != 0) object["rolled_from"] = head.rolled_from;
  if (head.rolled_from != 0) object["rolled_origin"] = head.rolled_origin;
  return sys::replace_file(cat({place(id), "/", kHead}),
                           object.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

Result<Library::Added> Library::add(const Recipe& recipe, const Origin& origin, const First& first) {
  TRY(check_id(recipe.id));
  const std::scoped_lock lock(mutex_);
  const auto before = TRY(head(recipe.id));
  // Whoever made it looked before, and much may have happened since.
  if (before && origin.from.starts_with(kByAgent) && before->origin.from != origin.from) {
    return fail({Code::kConflict, 0, cat({"the id ", recipe.id, " is another plugin's by now"})});
  }
  if (before) {
    const auto current = read_version(recipe.id, before->current);
    if (current && content_hash(*current) == content_hash(recipe)) return Added{before->current, before->current};
  } else if (TRY(names()).size() >= kPluginsMax) {
    return fail({Code::kConflict, 0, cat({"the library has ", std::to_string(kPluginsMax), " plugins already"})});
  }
  std::vector<int> known;
  if (TRY(sys::status_of(place(recipe.id)))) known = TRY(versions(recipe.id));
  const int number = known.empty() ? 1 : known.back() + 1;
  const Added added{number, before ? before->current : 0};
  if (first) TRY(first(added));
  TRY(sys::make_private_directories(place(recipe.id)));
  TRY(sys::replace_file(file_of(recipe.id, number), exported(recipe)));
  TRY(write_head(recipe.id, {.current = number, .origin = origin}));
  // The one before may be wanted back; see take_back().
  for (const int old : known) {
    if (known.size() < kVersionsMax) break;
    if (old == added.before) continue;
    (void)sys::unlink_at(sys::kCwd, file_of(recipe.id, old));
    known.pop_back();
  }
  return added;
}

Status Library::take_back(const std::string& id, const Added& added) {
  TRY(check_id(id));
  const std::scoped_lock lock(mutex_);
  auto now = TRY(head(id));
  if (!now || added.version == added.before) return {};
  if (now->current != added.version) {
    // It was written, and whoever wrote it was killed before it became the current one.
    if (TRY(sys::status_of(file_of(id, added.version)))) TRY(sys::unlink_at(sys::kCwd, file_of(id, added.version)));
    return {};
  }
  if (added.before == 0) return drop(id);
  now->current = added.before;
  TRY(write_head(id, *now));
  return sys::unlink_at(sys::kCwd, file_of(id, added.version));
}

Status Library::roll_back(const std::string& id, int number) {
  TRY(check_id(id));
  const std::scoped_lock lock(mutex_);
  auto now = TRY(head(id));
  if (!now) return fail(Error::not_found(cat({"there is no plugin ", id, " in the library"})));
  TRY(read_version(id, number));
  now->rolled_from = std::exchange(now->current, number);
  // Which versions are whose is not known: an agent that made one of them makes no more of that id.
  now->rolled_origin = std::exchange(now->origin.from, "rollback");
  return write_head(id, *now);
}

Status Library::keep_rollback(const std::string& id) {
  TRY(check_id(id));
  const std::scoped_lock lock(mutex_);
  auto now = TRY(head(id));
  if (!now || now->rolled_from == 0) return {};
  now->rolled_from = 0;
  return write_head(id, *now);
}

Status Library::undo_rollback(const std::string& id) {
  TRY(check_id(id));
  const std::scoped_lock lock(mutex_);
  auto now = TRY(head(id));
  if (!now || now->rolled_from == 0) return {};
  now->current = std::exchange(now->rolled_from, 0);
  now->origin.from = now->rolled_origin;
  return write_head(id, *now);
}

Result<std::vector<std::string>> Library::rollbacks() const {
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> found;
  for (const std::string& name : TRY(names())) {
    if (!check_id(name)) continue;
    const auto now = head(name);
    if (now && *now && (*now)->rolled_from != 0) found.push_back(name);
  }
  return found;
}

Result<bool> Library::remove(const std::string& id) {
  TRY(check_id(id));
  const std::scoped_lock lock(mutex_);
  if (!TRY(sys::status_of(place(id)))) return false;
  TRY(drop(id));
  return true;
}

// First that which makes it one.
Status Library::drop(const std::string& id) const {
  const std::string path = cat({place(id), "/", kHead});
  if (TRY(sys::status_of(path))) TRY(sys::unlink_at(sys::kCwd, path));
  return sys::remove_tree(place(id));
}

Status Library::mark_seen() {
  const std::scoped_lock lock(mutex_);
  for (const std::string& name : TRY(names())) {
    if (!check_id(name)) continue;
    auto found = head(name);
    if (!found || !*found || !(*found)->origin.is_new) continue;
    (*found)->origin.is_new = false;
    TRY(write_head(name, **found));
  }
  return {};
}

}  // namespace hutch::plugin
