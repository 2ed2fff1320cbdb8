// Files that get their names only after hutch has judged their content.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "guest/calls/turns.h"
#include "guest/places/access_place.h"
#include "plan/git/files.h"
#include "plan/plan.h"

namespace hutch::guest {

// A caller that opens such a file for writing gets a pipe. When everybody has closed it, the supervisor judges the
// content and makes the file itself, so that nobody has the file open and could change it later. It makes the file
// before it answers the next call: a process that writes the file and then makes a supervised call finds it.
class JudgedFiles {
 public:
  using Refused = std::function<void(std::uint32_t caller, const std::string& path, const plan::NameRule& rule)>;

  struct Wanted {
    plan::JudgedFile kind = plan::JudgedFile::kNone;
    Entry entry;
    std::string root;  // the writable directory that holds it
    mode_t mode = 0;
    std::uint32_t caller = 0;
    bool is_new = false;  // no file had the name: one that has it by then is somebody else's
  };
  Result<UniqueFd> open(Wanted wanted);

  void add_to(std::vector<pollfd>& wait) const;
  // Makes the files that are complete. The meaning of a text depends on its directory, so a file is not made if its
  // directory has moved. `may_land`: whether a call would be judged by its content alone, as names are by now.
  using MayLand = std::function<bool(const Entry& entry, plan::JudgedFile kind)>;
  void land(Places& places, Turns& turns, const MayLand& may_land, const Refused& refused);

 private:
  // A workload could otherwise open files for ever and never close them.
  static constexpr std::size_t kOpenMax = 64;

  struct Pending {
    Wanted wanted;
    UniqueFd read;
    std::string text;
  };
  enum class Read { kMore, kAll, kTooMuch };
  static Read take(Pending& pending);
  static Status judge_and_make(Places& places, const Pending& pending);
  static Status make(const Pending& pending);

  std::vector<Pending> pending_;
};

}  // namespace hutch::guest
