// The daemon of whoever types.
#include "cli/terminal/own_daemon.h"

#include <algorithm>

#include "base/text.h"
#include "host/machine/facts.h"
#include "sys/files/identity.h"

namespace hutch::cli {

using client::Value;

Result<host::StateDirs> own_dirs() {
  const std::string home = TRY_CTX(host::home_directory(), "find hutch's own directories");
  return host::own_state_dirs(sys::user_id(), home);
}

Result<client::DaemonClient> own_daemon(client::DaemonClient::Start start) {
  return client::DaemonClient::connect(TRY(own_dirs()), start);
}

const Value* member_of(const Value& object, std::string_view key) {
  const auto* members = object.get<Value::Object>();
  if (members == nullptr) return nullptr;
  const auto found = members->find(key);
  return found == members->end() ? nullptr : &found->second;
}

std::string text_in(const Value& object, std::string_view key) {
  const Value* member = member_of(object, key);
  const auto* text = member != nullptr ? member->get<std::string>() : nullptr;
  return text != nullptr ? *text : std::string();
}

std::int64_t number_in(const Value& object, std::string_view key) {
  const Value* member = member_of(object, key);
  const auto* number = member != nullptr ? member->get<std::int64_t>() : nullptr;
  return number != nullptr ? *number : 0;
}

bool truth_in(const Value& object, std::string_view key) {
  const Value* member = member_of(object, key);
  const auto* truth = member != nullptr ? member->get<bool>() : nullptr;
  return truth != nullptr && *truth;
}

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += row[i];
      if (i + 1 < row.size()) text.append(widths[i] - row[i].size() + 2, ' ');
    }
    text += '\n';
  }
  return text;
}

}  // namespace hutch::cli
