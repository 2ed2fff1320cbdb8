// A policy that is being changed: its text, the edits that made it, and whether it may be saved. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/document/edit.h"
#include "policy/keys.h"

namespace hutch::tui {

// Always what the reader takes: an edit that would break it is an error, and is not made.
class Draft {
 public:
  explicit Draft(std::string text) : saved_(text), text_(std::move(text)) {}

  const std::string& text() const { return text_; }
  // What has to be done to the saved policy, in this order.
  const std::vector<policy::Edit>& edits() const { return edits_; }
  bool is_changed() const { return !edits_.empty(); }

  Status set(const policy::Key& key, const std::string& value);
  Status unset(const policy::Key& key);
  Status add(const policy::Key& key, const std::string& item);
  // `item` as items_of() has it.
  Status remove(const policy::Key& key, const std::string& item);
  // The next of what a key of few values can be: true and false, or the forms that "network" and "ask" have.
  Status turn(const policy::Key& key);

 private:
  Status make(const policy::Edit& edit);

  std::string saved_;
  std::string text_;
  std::vector<policy::Edit> edits_;
  std::map<std::string, std::string, std::less<>> objects_;  // "network" and "ask" as they were before a word
};

enum class FieldKind {
  kTurn,    // Enter takes the next value
  kScalar,  // a line of text
  kList,
  kNames,  // a list of NAME=VALUE
};

enum class FieldSet { kBasic, kAll };

// The keys that can be changed, in the order in which they are shown.
std::vector<const policy::Key*> fields(FieldSet set);
FieldKind kind_of(const policy::Key& key);

// A value in a few words, for a row: "3: a, b, c"; empty where it is not set.
std::string value_text(std::string_view policy, const policy::Key& key);
// As a person types it.
std::string scalar_text(std::string_view policy, const policy::Key& key);

struct Item {
  std::string shown;
  std::string value;  // as an edit names it
};
std::vector<Item> items_of(std::string_view policy, const policy::Key& key);

}  // namespace hutch::tui
