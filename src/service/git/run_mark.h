// The mark of each run while it continues: what the run may write, and what it found in repositories of git at its
// start.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"
#include "plan/guarded_names.h"

namespace hutch::service {

// The time by which a file system's clock may lag: the kernel advances it with its ticks
// (ktime_get_coarse_real_ts64()).
inline constexpr std::chrono::nanoseconds kClockStep = std::chrono::milliseconds(20);

// The state found at each path: a checksum of the content, or the file's version. Several are separated by commas: what
// moves has the state of either name while it does.
using FoundStates = std::map<std::string, std::string>;
bool has_state(const FoundStates& found, const std::string& path, std::string_view state);
// The path has no state of the user's from here on.
inline constexpr std::string_view kNoState = "none";

struct OtherRun {
  std::int64_t since_ns = 0;  // since the epoch, by the clock of file systems: nothing that the run makes is older
  std::vector<std::string> written;  // directories; empty: any
  std::vector<std::string> repositories;  // those that a search below `written` does not find
  FoundStates found;
  bool found_all = true;  // false: `found` lacks some of what the run has found
  bool has_looked = false;  // the run had searched everywhere before its command started
  // Operations of git that the run has changed, and still exist; and whether they are all that it may have changed.
  std::set<std::string> touched{};
  bool tells_touched = false;
  std::map<std::string, plan::RepositoryIdentity> places{};  // of the repositories that have these
  bool rests = false;  // the run changes nothing now, and nothing that it changed is left to be checked

  // Whether the run may have put `path` there, with the state `state`. Two sandboxes could show and hide a file in
  // turns, so that each finds it at its start. `changed_ns` is the last change of the file and of all directories above
  // it, because a moved directory takes its files along unchanged.
  bool may_have_made(const std::string& path, std::string_view state, std::int64_t changed_ns) const;
};

// The time of the start, for a mark that begins anew.
std::string since_text(std::int64_t since_ns);
std::string written_text(const std::vector<std::string>& written);
std::string repositories_text(const std::vector<std::string>& repositories);
// Leaves out what exceeds its limit, and says so: others then believe that the run may have made those files.
std::string found_text(const FoundStates& found);
// Reads these texts, in this order. A text that is too long, or has other lines, counts as a run that may write
// anything and has found nothing.
OtherRun read_run_mark(std::int64_t since_ns, std::string_view text);

// The mark exists as long as this object. Other runs see it as long as this process lives.
class RunMark {
 public:
  // Makes `directory` and the mark in it. If that fails, other runs do not see this run: they may take for the user's
  // what this run makes.
  RunMark(std::string directory, std::vector<std::string> written);
  ~RunMark();
  RunMark(const RunMark&) = delete;
  RunMark& operator=(const RunMark&) = delete;

  // The mark stays when this object goes, as that of a killed run: whoever looks next may find what this one did not.
  void outlive() { outlives_ = true; }
  // Other runs do not see this one from here on, until again(). Making a file anew would cost more.
  void rest();
  // The mark begins anew, as by the constructor.
  void again(std::vector<std::string> written);

  enum class Tells { kAll, kSome };
  // These add to the mark, for runs that start later: more writable directories, their repositories, and what this run
  // has found.
  void may_write(const std::vector<std::string>& directories);
  void works_in(const std::vector<std::string>& repositories);
  void found(const FoundStates& states);
  void found_more_than_it_says();
  // The run has changed the operation at `path`, and has removed it.
  void touches(const std::string& path);
  void ended(const std::string& path);
  void lies_at(const std::string& directory, const plan::RepositoryIdentity& identity);
  // From here on the mark says each one, or not any more.
  void tells_touched(Tells tells);
  // The other runs that continue now.
  std::vector<OtherRun> others() const;
  // Whether another run, one that was killed included, may write in these directories, above or below them: one of the
  // two can have moved there what the other one made.
  bool is_beside_another(const std::vector<std::string>& written) const;
  // These, and those that rest now but have changed something since this one began.
  std::vector<OtherRun> others_meanwhile() const;

  // A run whose process was killed, so that nobody has checked what it left. The caller removes `path` after the check.
  struct CutOff {
    OtherRun run;
    std::string path;
    UniqueFd held;
  };
  static std::vector<CutOff> cut_off(const std::string& directory);

 private:
  void begin(const std::vector<std::string>& written, std::int64_t now_ns);
  void add(const std::string& text);
  std::vector<OtherRun> all_others() const;

  const std::string directory_;
  std::string path_;  // empty: the mark could not be made
  UniqueFd held_;
  std::uint64_t size_ = 0;
  bool lacks_ = false;  // what could not be written
  bool says_part_ = false;
  bool outlives_ = false;
  std::int64_t since_ns_ = 0;
};

}  // namespace hutch::service
