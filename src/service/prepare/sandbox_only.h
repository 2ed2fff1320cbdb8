// Whether the backend none, which isolates nothing, may be had: security.sandboxOnly of config.json.
#pragma once

#include "base/result.h"
#include "store/settings_file.h"

namespace hutch::service {

// kPerson: a command that somebody types, or a program that has the library. kDaemon: what agents and tools have,
// which is isolated unless the settings say that it need not be.
enum class Asker { kPerson, kDaemon };

// Code::kPermissionDenied, with the key and the file, where `file` does not let `asker` have it.
Status check_none_is_allowed(const store::SettingsFile& file, Asker asker);

}  // namespace hutch::service
