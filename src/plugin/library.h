// The user's library of plugins: each with its versions, in files that are only ever there whole.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "plugin/recipe.h"

namespace hutch::plugin {

inline constexpr std::size_t kVersionsMax = 20;  // kept of a plugin; older ones go
inline constexpr std::size_t kPluginsMax = 1000;

// Where a recipe came from, and when.
struct Origin {
  std::string from;  // a file, an address, "agent alice"
  std::string time;
  bool is_new = false;  // an agent's, that its person has not seen in a list yet
};

struct Entry {
  std::string id;
  int current = 0;
  std::vector<int> versions;  // ascending
  Origin origin;
  Recipe recipe;  // of the current version
};

// DIR/ID/entry.json says which of DIR/ID/NUMBER.json is current: a plugin without one is none, and what a process that
// was killed left of it goes with the next that begins. Any thread may use it.
class Library {
 public:
  explicit Library(std::string directory) : directory_(std::move(directory)) {}

  // Removes what is no entry. Before anything else is asked.
  Status repair();

  Result<std::vector<Entry>> list() const;  // without what is damaged
  struct Damaged {
    std::string id;
    std::string why;
  };
  Result<std::vector<Damaged>> damaged() const;
  Result<std::optional<Entry>> find(const std::string& id) const;
  Result<Recipe> version(const std::string& id, int number) const;  // Code::kNotFound

  // As the next version and the current one; a recipe that means the same as the current one adds none.
  struct Added {
    int version = 0;
    int before = 0;  // that was current; 0: there was no such plugin
  };
  // `first` hears of what is about to be written; its error is the end of it.
  using First = std::function<Status(const Added& added)>;
  Result<Added> add(const Recipe& recipe, const Origin& origin, const First& first = {});
  // What add() did is undone; nothing where another version is current by now.
  Status take_back(const std::string& id, const Added& added);

  // That version is current from now on, and the step is not over before it is kept or undone: a process that was
  // killed between has it among rollbacks(). Code::kNotFound.
  Status roll_back(const std::string& id, int number);
  Status keep_rollback(const std::string& id);
  Status undo_rollback(const std::string& id);
  Result<std::vector<std::string>> rollbacks() const;
  Result<bool> remove(const std::string& id);               // whether there was one
  Status mark_seen();

 private:
  struct Head {
    int current = 0;
    Origin origin;
    int rolled_from = 0;  // of a rollback that is not over: the version that was current, and its origin
    std::string rolled_origin{};
  };
  std::string place(const std::string& id) const;
  std::string file_of(const std::string& id, int number) const;
  Result<std::optional<Head>> head(const std::string& id) const;  // with the lock held, as all below
  Status write_head(const std::string& id, const Head& head) const;
  Result<std::vector<int>> versions(const std::string& id) const;
  Result<std::vector<std::string>> names() const;
  Result<std::optional<Entry>> read(const std::string& id) const;
  Result<Recipe> read_version(const std::string& id, int number) const;
  Status drop(const std::string& id) const;

  const std::string directory_;
  mutable std::mutex mutex_;
};

}  // namespace hutch::plugin
