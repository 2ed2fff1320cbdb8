// The files in which git keeps an operation for later, as hutch reads and remembers them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "plan/git/state.h"
#include "sys/files/changed.h"

namespace hutch::service {

// Absent: the content is unknown.
using GitStateText = std::optional<std::string>;

// The limit for all files together: a command can make any number of the largest ones.
inline constexpr std::size_t kAllBytesMax = 16 * plan::kGitStateBytesMax;

inline constexpr std::string_view kResolutions = "/MERGE_RR";
inline constexpr std::string_view kWayOut = "out";  // of the name of a file behind it

// Reads up to `left` bytes of kAllBytesMax. A link's target may change later, and a larger file is not read: both are
// unknown. Absent: no file is there. `closed` gets the path if nobody can tell whether something is there.
std::optional<GitStateText> state_text(const std::string& path, std::size_t& left, std::string* closed = nullptr);

// Whether the regular file has another name besides (link(2)): a change by that one changes it as well.
bool has_other_names(const std::string& path);

// The form in which hutch remembers the file's content, or a file's identity and time of change.
std::string found_state(const GitStateText& text);
std::string found_state(const sys::FileVersion& version);

// Whether this user may not look at what is in the directory.
bool is_closed_inside(const std::string& directory);

std::string directory_of(const std::string& path);

// Nanoseconds since the epoch; the latest time for a file that does not exist.
std::int64_t last_change(const std::string& path);

}  // namespace hutch::service
