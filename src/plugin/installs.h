// What each agent has installed, and how far an installation is: a file for each, only ever there whole.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plugin/library.h"
#include "plugin/recipe.h"

namespace hutch::plugin {

// The steps of an installation, in this order.
inline constexpr std::array<std::string_view, 8> kSteps = {"validate", "start",   "user",  "packages",
                                                           "files",    "secrets", "setup", "tools"};
inline constexpr std::size_t kLogBytesMax = 16 << 10;  // of a step
inline constexpr std::size_t kInstalledMax = 100;      // of an agent

enum class State {
  kInstalling,  // its directory and its entry of the library are nobody's yet
  kUpdating,    // the same, beside the one before
  kReady,
  kRemoving,    // nothing but its removal writes of it any more
  kFailed,      // an update failed, and what was there before could not be had back: it has no tools
};
std::string_view name_of(State state);

struct StepLog {
  std::string step;
  std::string log;
};

struct Install {
  std::string agent;
  Recipe recipe;
  State state = State::kInstalling;
  std::size_t steps = 0;  // that were done
  std::vector<StepLog> log{};
  std::string time{};
  std::string from{};
  // Whether the directory was there before, made by the agent itself: what is undone leaves it.
  bool is_in_place = false;
  std::optional<Recipe> previous{};      // of kUpdating
  // Once it may have added one to the library: its number, and the current one before; 0: there was none.
  std::optional<int> library_added{};
  std::optional<int> library_before{};
  std::string reason{};        // of kFailed, or why its packages are not back yet
  bool lacks_packages = false;  // of kReady: the agent's system was reset since, and they are put back before a call
  std::string system{};         // of the agent, in which its packages were found or installed; empty: not known
  bool had_no_files = false;   // of kUpdating: the directory of the one before was gone already
  bool had_failed = false;     // of kUpdating: the one before was of kFailed
  // Of an installation that runs; see Installs::era(). Not kept.
  std::optional<std::uint64_t> era{};
};

// As a person reads it: the state's name, or "repairing".
std::string_view shown_state(const Install& install);

// Something is to be undone, or of a removal to be done, before anything else is.
inline bool is_half(const Install& install) {
  return install.state != State::kReady && install.state != State::kFailed;
}

// A record that cannot be read.
struct DamagedInstall {
  std::string agent;
  std::string id;  // of its file's name
  std::string why;
};

// Any thread may use it.
class Installs {
 public:
  // DIR/AGENT/plugins/ID.json.
  explicit Installs(std::string directory) : directory_(std::move(directory)) {}

  Result<std::vector<std::string>> agents() const;  // who may have some
  // In the order of ids. What is there is read once.
  Result<std::vector<std::shared_ptr<const Install>>> of(const std::string& agent);
  Result<std::shared_ptr<const Install>> find(const std::string& agent, const std::string& id);  // null: none
  std::vector<DamagedInstall> damaged(const std::string& agent);  // which are none of these
  // Code::kConflict where the plugin is being removed and this is no removal, and of an era that is over.
  Status write(const Install& install);
  Status erase(const Install& install);
  // Changes when the agent is forgotten: what began before it belongs to nobody.
  std::uint64_t era(const std::string& agent);
  Status forget(const std::string& agent);

 private:
  using Known = std::map<std::string, std::shared_ptr<const Install>>;
  std::string place(const std::string& agent) const;
  Result<Known*> load(const std::string& agent);  // with the lock held, as below
  Status check_era(const Install& install) const;

  const std::string directory_;
  std::mutex mutex_;
  std::map<std::string, Known> known_;
  std::map<std::string, std::vector<DamagedInstall>> damaged_;
  std::map<std::string, std::uint64_t> eras_;
};

// A record as it is kept, and back.
std::string format_install(const Install& install);
Result<Install> parse_install(std::string_view text);

}  // namespace hutch::plugin
