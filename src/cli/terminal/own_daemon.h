// The daemon of whoever types, and reading what it answers.
#pragma once

#include <string>
#include <string_view>

#include "client/daemon_client.h"

namespace hutch::cli {

Result<host::StateDirs> own_dirs();

Result<client::DaemonClient> own_daemon(client::DaemonClient::Start start = client::DaemonClient::Start::kIfNeeded);

// A member of an object; "", 0 or false where it is absent or of another type.
std::string text_in(const client::Value& object, std::string_view key);
std::int64_t number_in(const client::Value& object, std::string_view key);
bool truth_in(const client::Value& object, std::string_view key);
const client::Value* member_of(const client::Value& object, std::string_view key);

// Rows in columns as wide as they need to be, a line each.
std::string table(const std::vector<std::vector<std::string>>& rows);

}  // namespace hutch::cli
