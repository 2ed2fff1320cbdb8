// sandbox.json: what virtual machines are like.
#include "store/machine_settings.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "sys/files/journal.h"
#include "sys/files/tree.h"
#include "sys/files/whole_file.h"
#include "wire/json_guard.h"

namespace hutch::store {

namespace {

using Json = nlohmann::ordered_json;
using Network = MachineSettings::Network;

constexpr std::array<std::string_view, 4> kNames = {"autoStart", "cpus", "memoryGB", "network"};
constexpr unsigned kMax = 8;

Result<unsigned> count_of(const Json& value, std::string_view key) {
  const bool is_count = value.is_number_integer() && value >= 1 && value <= kMax;
  if (is_count) return value.get<unsigned>();
  return fail(Error::invalid(cat({key, ": a whole number from 1 to ", std::to_string(kMax)})));
}

Status set(MachineSettings& settings, std::string_view key, const Json& value) {
  if (key == "cpus") {
    settings.cpus = TRY(count_of(value, key));
  } else if (key == "memoryGB") {
    settings.memory_gb = TRY(count_of(value, key));
  } else if (key == "autoStart") {
    if (!value.is_boolean()) return fail(Error::invalid("autoStart: true or false"));
    settings.auto_start = value.get<bool>();
  } else if (key == "network") {
    if (value != "outbound" && value != "none") return fail(Error::invalid("network: \"outbound\" or \"none\""));
    settings.network = value == "none" ? Network::kNone : Network::kOutbound;
  } else {
    return fail(
        Error::invalid(cat({printable(key, 64), ": no such setting; ", join({kNames.begin(), kNames.end()}, ", ")})));
  }
  return {};
}

Json setting_value(const MachineSettings& settings, std::string_view key) {
  if (key == "cpus") return settings.cpus;
  if (key == "memoryGB") return settings.memory_gb;
  if (key == "autoStart") return settings.auto_start;
  return settings.network == Network::kNone ? "none" : "outbound";
}

}  // namespace

std::span<const std::string_view> machine_setting_names() { return kNames; }

Result<MachineSettings> parse_machine_settings(std::string_view text, std::string_view source) {
  TRY_CTX(wire::check_json_shape(text, limits::kJsonBytesMax), source);
  const Json object = parse_ordered_json(text);
  if (!object.is_object()) return fail(Error::invalid(cat({source, ": no JSON object"})));
  MachineSettings settings;
  for (const auto& [key, value] : object.items()) {
    if (key != "$schema") TRY_CTX(set(settings, key, value), source);
  }
  return settings;
}

Result<MachineSettings> with_machine_setting(MachineSettings settings, std::string_view key, std::string_view value) {
  const Json parsed = parse_ordered_json(value);
  TRY(set(settings, key, parsed.is_number() || parsed.is_boolean() ? parsed : Json(std::string(value))));
  return settings;
}

std::string machine_setting_text(const MachineSettings& settings, std::string_view key) {
  const Json value = setting_value(settings, key);
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string machine_settings_text(const MachineSettings& settings) {
  Json object = Json::object();
  for (const std::string_view key : kNames) object[std::string(key)] = setting_value(settings, key);
  return object.dump(2) + "\n";
}

Result<MachineSettings> MachineSettingsFile::read() const {
  const auto text = sys::regular_file_text(path(), limits::kJsonBytesMax);
  if (text) return parse_machine_settings(*text, path());
  if (text.error().sys_errno == ENOENT || text.error().sys_errno == ENOTDIR) return MachineSettings();
  return fail(text.error());
}

Status MachineSettingsFile::change(std::string_view key, std::string_view value) const {
  TRY(sys::make_private_directories(directory_));
  const UniqueFd lock = TRY(sys::open_journal(directory_ + "/lock"));
  TRY(sys::lock_journal(lock.get()));
  const MachineSettings before = TRY(read());
  const MachineSettings changed = TRY(with_machine_setting(before, key, value));
  return sys::replace_file(path(), machine_settings_text(changed));
}

}  // namespace hutch::store
