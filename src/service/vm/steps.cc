// What is provisioned, step by step.
#include "service/vm/steps.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "service/vm/sums.h"
#include "sys/files/beneath.h"
#include "sys/files/files.h"
#include "sys/files/journal.h"
#include "sys/files/tree.h"
#include "sys/files/whole_file.h"
#include "sys/process/process.h"
#include "wire/json_guard.h"

namespace hutch::service {

namespace {

using nlohmann::json;

constexpr std::string_view kHalfMade = "new-";
constexpr const char* kRecords = "steps.json";
constexpr const char* kLock = "lock";
// A kernel or packages that were fetched longer ago may have been mended since.
constexpr std::int64_t kSecondsMax = 24 * 60 * 60;

std::optional<std::string> text_member(const json& object, const char* key) {
  const json value = object.value(key, json());
  return value.is_string() ? std::optional(value.get<std::string>()) : std::nullopt;
}

// A name of a file of this directory's own.
bool is_plain_name(const std::string& name) { return !name.empty() && !name.contains('/') && name.front() != '.'; }

std::optional<std::map<std::string, std::string>> sums_of(const json& object) {
  std::map<std::string, std::string> sums;
  if (!object.is_object()) return std::nullopt;
  for (const auto& [name, sum] : object.items()) {
    if (!is_plain_name(name) || !sum.is_string()) return std::nullopt;
    sums[name] = sum.get<std::string>();
  }
  return sums;
}

Result<std::vector<std::string>> names_of(const std::string& directory) {
  const UniqueFd listing = TRY(sys::open_listing(directory));
  std::vector<std::string> names;
  for (const sys::TreeEntry& entry : TRY(sys::names_in(listing.get(), directory))) names.push_back(entry.name);
  return names;
}

}  // namespace

std::string half_made(const std::string& top) { return cat({top, "/", kHalfMade, std::to_string(sys::own_pid())}); }

void remove_half_made(const std::string& top) {
  const auto names = names_of(top);
  for (const std::string& name : names.value_or(std::vector<std::string>())) {
    if (!name.starts_with(kHalfMade)) continue;
    pid_t pid = 0;
    const auto read = std::from_chars(name.data() + kHalfMade.size(), name.data() + name.size(), pid);
    const bool ours = read.ec == std::errc() && read.ptr == name.data() + name.size() && pid > 0;
    if (ours && sys::is_over(pid)) (void)sys::remove_tree(cat({top, "/", name}));
  }
}

Result<VmSteps> VmSteps::open(const std::string& top, int form, std::int64_t now) {
  VmSteps steps(top, form, now);
  steps.lock_ = TRY(sys::open_journal(cat({top, "/", kLock})));
  TRY(sys::lock_journal(steps.lock_.get()));
  remove_half_made(top);
  TRY(sys::make_private_directories(steps.directory_));
  steps.read(now);
  if (steps.records_.empty()) {
    TRY(sys::remove_tree(steps.directory_));
    TRY(sys::make_private_directories(steps.directory_));
  }
  return steps;
}

std::string VmSteps::file(std::string_view name) const { return cat({directory_, "/", name}); }

// What cannot be read has made nothing.
void VmSteps::read(std::int64_t now) {
  const auto text = sys::regular_file_text(file(kRecords), limits::kJsonBytesMax);
  if (!text || !wire::check_json_shape(*text, limits::kJsonBytesMax)) return;
  const json all = parse_json(*text);
  if (!all.is_object() || all.value("form", json()) != form_) return;
  const json begun = all.value("begun", json());
  const json steps = all.value("steps", json());
  if (!begun.is_number_integer() || !steps.is_object()) return;
  const std::int64_t since = begun.get<std::int64_t>();
  if (since > now || since < now - kSecondsMax) return;
  for (const auto& [name, one] : steps.items()) {
    if (!one.is_object()) continue;
    const auto key = text_member(one, "key");
    const auto about = text_member(one, "about");
    auto sums = sums_of(one.value("sums", json()));
    if (key && about && sums) records_[name] = {*key, *about, std::move(*sums)};
  }
  begun_ = since;
}

Status VmSteps::write() const {
  json steps = json::object();
  for (const auto& [name, record] : records_) {
    steps[name] = {{"key", record.key}, {"about", record.about}, {"sums", record.sums}};
  }
  const json all = {{"form", form_}, {"begun", begun_}, {"steps", std::move(steps)}};
  return sys::replace_file(file(kRecords), all.dump(1, ' ', false, json::error_handler_t::replace));
}

bool VmSteps::is_whole(const Record& record) const {
  return std::ranges::all_of(record.sums, [&](const auto& one) {
    const auto sum = sum_of_named(one.first, file(one.first));
    return sum && *sum == one.second;
  });
}

Result<std::string> VmSteps::take(const Step& step, const std::function<Result<Made>(const std::string& into)>& make,
                                  const TellImage& tell) {
  const auto before = records_.find(step.name);
  if (before != records_.end() && !step.key.empty() && before->second.key == step.key && is_whole(before->second)) {
    tell(cat({step.what, ": taken from before"}));
    taken_[step.name] = before->second;
    return before->second.about;
  }
  // A step may take others while it is made.
  const std::string into = cat({half_made(top_), "/", step.name});
  TRY(sys::remove_tree(into));
  TRY(sys::make_private_directories(into));
  auto made = make(into);
  Record record{.key = step.key, .about = {}, .sums = {}};
  const auto put = [&]() -> Status {
    record.about = made->about;
    for (const std::string& name : made->files) {
      record.sums[name] = TRY(sum_of_named(name, cat({into, "/", name})));
      TRY(sys::rename_file(cat({into, "/", name}), file(name)));
    }
    records_[step.name] = taken_[step.name] = record;
    return write();
  };
  const Status done = made ? put() : Status(fail(made.error()));
  (void)sys::remove_tree(into);
  (void)sys::remove_directory_at(sys::kCwd, half_made(top_));
  TRY(done);
  return record.about;
}

std::map<std::string, std::string> VmSteps::sums_without(const std::string& step) const {
  std::map<std::string, std::string> sums;
  for (const auto& [name, record] : taken_) {
    if (name != step) sums.insert(record.sums.begin(), record.sums.end());
  }
  return sums;
}

Status VmSteps::publish(const std::string& name, const std::string& text, const std::vector<std::string>& keep) {
  const std::string files = cat({top_, "/files"});
  const bool is_first = !sys::exists(files);
  // Else what is there would be gone on from, once it is where these are now.
  const std::string old_records = cat({files, "/", kRecords});
  if (sys::exists(old_records)) TRY(sys::unlink_at(sys::kCwd, old_records));
  TRY(sys::replace_file(file(name), text));
  TRY(sys::rename_at(sys::kCwd, directory_, sys::kCwd, files,
                     is_first ? sys::Replacing::kRefused : sys::Replacing::kExchanged));
  for (const std::string& one : TRY(names_of(files))) {
    if (one != name && std::ranges::find(keep, one) == keep.end()) {
      TRY(sys::unlink_at(sys::kCwd, cat({files, "/", one})));
    }
  }
  return sys::remove_tree(directory_);
}

}  // namespace hutch::service
