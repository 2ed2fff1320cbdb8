// Writes the option or the setting that allows a path, so that it works exactly as a person copies it.
#pragma once

#include <string>
#include <string_view>

namespace hutch::policy {

// Returns "--allow-write PATH" for a shell: PATH is quoted, and its wildcards are escaped.
std::string path_option(std::string_view option, std::string_view path);

// Returns "filesystem.allowWrite [PATH]" for a policy file: PATH is a JSON string, and its wildcards are escaped.
std::string path_setting(std::string_view list, std::string_view path);

}  // namespace hutch::policy
