// Files that get their names once it is known what they say.
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
#include "guest/access_place.h"
#include "plan/git_files.h"

namespace hutch::guest {

// A caller that opens one for writing gets a pipe. When everybody has closed it, the supervisor judges what came out,
// and makes the file itself: nobody has it open who could change it later. It does so before it answers the next call,
// so that a process which writes the file and then makes a supervised call finds it.
class JudgedFiles {
 public:
  using Refused = std::function<void(std::uint32_t caller, const std::string& path)>;

  struct Wanted {
    plan::JudgedFile kind = plan::JudgedFile::kNone;
    Entry entry;
    std::string root;  // the writable directory that it lies in
    mode_t mode = 0;
    std::uint32_t caller = 0;
  };
  Result<UniqueFd> open(Wanted wanted);

  void add_to(std::vector<pollfd>& wait) const;
  // Makes the files that are complete. What a text means depends on where it lies: in a directory that was moved
  // meanwhile none is made.
  void land(const Places& places, const Refused& refused);

 private:
  // A workload could go on for ever with files that it does not close.
  static constexpr std::size_t kOpenMax = 64;

  struct Pending {
    Wanted wanted;
    UniqueFd read;
    std::string text;
  };
  enum class Read { kMore, kAll, kTooMuch };
  static Read take(Pending& pending);
  static Status make(const Pending& pending);

  std::vector<Pending> pending_;
};

}  // namespace hutch::guest
