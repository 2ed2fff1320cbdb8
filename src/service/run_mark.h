// The mark of each run that goes on: what it may write, and what it found in repositories of git when it started.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"

namespace hutch::service {

// By path, what was there: a sum of its content, or its version.
using FoundStates = std::map<std::string, std::string>;

struct OtherRun {
  std::int64_t since_ns = 0;  // since the epoch
  std::vector<std::string> written;  // directories; empty: any
  FoundStates found;
  bool found_all = false;  // `found` is whole: it had looked everywhere before its command started

  // Whether it may have put `path` there, whose state is `state`. Two sandboxes could show and hide something in turns,
  // so that each finds it when it starts. `changed_ns`: the last change of it and of all directories that hold it, for
  // a directory that is moved takes its files along as they are.
  bool may_have_made(const std::string& path, std::string_view state, std::int64_t changed_ns) const;
};

std::string written_text(const std::vector<std::string>& written);
std::string found_text(const FoundStates& found);
// Of both. What is too long, or no such line, counts as a run that may write anything and has found nothing.
OtherRun read_run_mark(std::int64_t since_ns, std::string_view text);

// Held for the life of this object. The other runs see it as long as its process lives.
class RunMark {
 public:
  // In `directory`, which is made. Where that fails the others see nothing: they then may take for the user's what this
  // run makes.
  RunMark(std::string directory, std::vector<std::string> written);
  ~RunMark();
  RunMark(const RunMark&) = delete;
  RunMark& operator=(const RunMark&) = delete;

  // For those that start later: it may write these as well, and this is what it found.
  void may_write(const std::vector<std::string>& directories);
  void found(const FoundStates& states);
  // Those that go on now.
  std::vector<OtherRun> others() const;

  // Runs whose process was killed, so that nobody has looked at what they left. The caller removes `path` once it has.
  struct CutOff {
    OtherRun run;
    std::string path;
    UniqueFd held;
  };
  static std::vector<CutOff> cut_off(const std::string& directory);

 private:
  const std::string directory_;
  const std::vector<std::string> written_;
  std::string path_;  // empty: it could not be made
  UniqueFd held_;
};

}  // namespace hutch::service
