// The wizard of `hutch config`: what each key does on each of its screens, and what is to be done outside. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "policy/document/edit.h"
#include "policy/policy.h"
#include "tui/draft.h"
#include "tui/event.h"
#include "tui/input_line.h"

namespace hutch::tui {

// Whether projects.json has an entry for the current directory.
enum class Coverage { kExact, kParent, kNone };

// What holds in the current directory.
struct Overview {
  struct Row {
    std::string name;
    std::string value;
  };
  policy::Switch enabled = policy::Switch::kEnabled;
  std::string status{};                // the status line
  std::vector<Row> summary{};  // which policy it is, and its lists
  std::vector<std::string> grants{};   // what was allowed for this session
  std::string trouble{};               // why a policy cannot be read; empty where all of them can
  Coverage coverage = Coverage::kNone;
  std::string directory{};
  std::string project{};               // of kExact and kParent
};

// One policy, to be changed.
struct Opened {
  std::string text;
  std::string name;  // where it is saved
  enum class Standing { kSaved, kNew } standing = Standing::kSaved;
};

enum class DeedKind {
  kToggle,     // the sandbox on or off for this session, and the end
  kOpen,       // a policy, by opened() or failed()
  kSave,       // its edits, by saved() or failed()
  kLeave,
  kInterrupt,  // left by Ctrl-C
};
struct Deed {
  DeedKind kind = DeedKind::kLeave;
  policy::Scope scope = policy::Scope::kProject;  // of kOpen and kSave
};

struct MenuChoice {
  Deed deed;
  std::string label;
  std::string about;
};

enum class Screen { kMenu, kFields, kList };

struct Notice {
  std::string text;
  enum class Tone { kPlain, kGood, kBad } tone = Tone::kPlain;
};

class Wizard {
 public:
  explicit Wizard(Overview overview) { show(std::move(overview)); }

  // What is to be done now, if anything is.
  std::optional<Deed> press(const Event& event);

  void show(Overview overview);
  void opened(Opened opened);
  void saved(Opened opened, std::string note);
  void failed(std::string why) { notice_ = {std::move(why), Notice::Tone::kBad}; }

  // For those who draw it.
  Screen screen() const { return list_ ? Screen::kList : draft_ ? Screen::kFields : Screen::kMenu; }
  const Overview& overview() const { return overview_; }
  const std::vector<MenuChoice>& choices() const { return choices_; }
  const Draft& draft() const { return *draft_; }
  const Opened& policy() const { return opened_; }
  const std::vector<const policy::Key*>& fields() const { return fields_; }
  FieldSet field_set() const { return field_set_; }
  const policy::Key* list() const { return list_; }  // whose items are shown
  std::vector<Item> items() const { return items_of(draft_->text(), *list_); }
  std::size_t marked() const { return list_ != nullptr ? item_ : draft_ ? field_ : choice_; }
  struct Input {
    const policy::Key* key = nullptr;
    InputLine line;
  };
  const std::optional<Input>& input() const { return input_; }
  const Notice& notice() const { return notice_; }

 private:
  std::optional<Deed> press_menu(const Event& event);
  std::optional<Deed> press_fields(const Event& event);
  void press_list(const Event& event);
  void press_input(const Event& event);
  std::optional<Deed> leave_fields();
  std::optional<Deed> save();
  void enter_field();
  void show_fields(FieldSet set);
  void take(const Status& status);

  Overview overview_;
  std::vector<MenuChoice> choices_;
  std::size_t choice_ = 0;

  policy::Scope scope_ = policy::Scope::kProject;
  Opened opened_;
  std::optional<Draft> draft_;
  FieldSet field_set_ = FieldSet::kBasic;
  std::vector<const policy::Key*> fields_;
  std::size_t field_ = 0;
  const policy::Key* list_ = nullptr;
  std::size_t item_ = 0;
  std::optional<Input> input_;
  Notice notice_;
  bool is_leaving_ = false;  // with changes that are not saved, and was told so
};

}  // namespace hutch::tui
