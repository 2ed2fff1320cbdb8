// The wizard's states.
#include "tui/wizard.h"

#include <algorithm>

#include "base/text.h"

namespace hutch::tui {

namespace {

using policy::Scope;

constexpr std::size_t kPage = 10;

std::vector<MenuChoice> choices_of(const Overview& overview);
std::size_t moved(const Event& event, std::size_t at, std::size_t count);
bool is_letter(const Event& event, char letter);
std::size_t place_of(std::string_view text, const std::vector<Item>& items);

}  // namespace

std::optional<Deed> Wizard::press(const Event& event) {
  if (event.kind == EventKind::kInterrupt) return Deed{DeedKind::kInterrupt};
  if (input_) {
    press_input(event);
    return std::nullopt;
  }
  if (list_ != nullptr) {
    press_list(event);
    return std::nullopt;
  }
  return draft_ ? press_fields(event) : press_menu(event);
}

void Wizard::show(Overview overview) {
  overview_ = std::move(overview);
  choices_ = choices_of(overview_);
  choice_ = std::min(choice_, choices_.size() - 1);
}

void Wizard::opened(Opened opened) {
  opened_ = std::move(opened);
  draft_.emplace(opened_.text);
  field_ = 0;
  show_fields(FieldSet::kBasic);
  notice_ = {};
}

void Wizard::saved(Opened opened, std::string note) {
  opened_ = std::move(opened);
  draft_.emplace(opened_.text);
  is_leaving_ = false;
  std::string text = cat({"saved in ", opened_.name});
  if (!note.empty()) text += cat({"; ", note});
  notice_ = {std::move(text), Notice::Tone::kGood};
}

std::optional<Deed> Wizard::press_menu(const Event& event) {
  notice_ = {};
  if (event.kind == EventKind::kEscape || is_letter(event, 'q')) return Deed{DeedKind::kLeave};
  if (event.kind == EventKind::kEnter) {
    scope_ = choices_[choice_].deed.scope;
    return choices_[choice_].deed;
  }
  choice_ = moved(event, choice_, choices_.size());
  return std::nullopt;
}

std::optional<Deed> Wizard::press_fields(const Event& event) {
  if (event.kind == EventKind::kEscape || is_letter(event, 'q')) return leave_fields();
  is_leaving_ = false;
  notice_ = {};
  if (is_letter(event, 's')) return save();
  if (is_letter(event, '?')) {
    show_fields(field_set_ == FieldSet::kBasic ? FieldSet::kAll : FieldSet::kBasic);
  } else if (event.kind == EventKind::kEnter) {
    enter_field();
  } else {
    field_ = moved(event, field_, fields_.size());
  }
  return std::nullopt;
}

// What was changed is not thrown away by one key.
std::optional<Deed> Wizard::leave_fields() {
  if (!draft_->is_changed() || is_leaving_) return Deed{DeedKind::kLeave};
  is_leaving_ = true;
  notice_ = {"not saved: s saves, Esc or q once more leaves without", Notice::Tone::kBad};
  return std::nullopt;
}

std::optional<Deed> Wizard::save() {
  if (draft_->is_changed() || opened_.standing == Opened::Standing::kNew) return Deed{DeedKind::kSave, scope_};
  notice_ = {"nothing to save", Notice::Tone::kPlain};
  return std::nullopt;
}

void Wizard::enter_field() {
  const policy::Key& key = *fields_[field_];
  switch (kind_of(key)) {
    case FieldKind::kTurn: return take(draft_->turn(key));
    case FieldKind::kScalar: input_.emplace(Input{&key, InputLine(scalar_text(draft_->text(), key))}); break;
    case FieldKind::kList:
    case FieldKind::kNames:
      list_ = &key;
      item_ = 0;
      break;
  }
}

// The field that is marked stays so where it is still there.
void Wizard::show_fields(FieldSet set) {
  const policy::Key* key = field_ < fields_.size() ? fields_[field_] : nullptr;
  field_set_ = set;
  fields_ = tui::fields(set);
  const auto found = std::ranges::find(fields_, key);
  field_ = found == fields_.end() ? 0 : static_cast<std::size_t>(found - fields_.begin());
}

void Wizard::press_list(const Event& event) {
  notice_ = {};
  const std::vector<Item> all = items();
  if (event.kind == EventKind::kEscape || is_letter(event, 'b')) {
    list_ = nullptr;
  } else if (is_letter(event, 'a')) {
    input_.emplace(Input{list_, InputLine("")});
  } else if (is_letter(event, 'd') && item_ < all.size()) {
    take(draft_->remove(*list_, all[item_].value));
    item_ = std::min(item_, std::max<std::size_t>(items().size(), 1) - 1);
  } else {
    item_ = moved(event, item_, all.size());
  }
}

void Wizard::press_input(const Event& event) {
  if (event.kind == EventKind::kEscape) {
    input_.reset();
    notice_ = {};
    return;
  }
  if (event.kind != EventKind::kEnter) {
    input_->line.press(event);
    notice_ = {};
    return;
  }
  const policy::Key& key = *input_->key;
  const std::string text = input_->line.text();
  const std::string before = list_ == nullptr ? scalar_text(draft_->text(), key) : "";
  if (text == before) {
    take({});
  } else if (list_ != nullptr) {
    take(draft_->add(key, text));
  } else {
    take(text.empty() ? draft_->unset(key) : draft_->set(key, text));
  }
  // What is wrong stays there to be mended.
  if (notice_.tone == Notice::Tone::kBad) return;
  input_.reset();
  if (list_ != nullptr && !text.empty()) item_ = place_of(text, items());
}

void Wizard::take(const Status& status) {
  notice_ = status ? Notice{} : Notice{status.error().message, Notice::Tone::kBad};
}

namespace {

std::vector<MenuChoice> choices_of(const Overview& overview) {
  const bool is_on = overview.enabled == policy::Switch::kEnabled;
  std::vector<MenuChoice> choices = {{Deed{DeedKind::kToggle}, is_on ? "Disable sandbox" : "Enable sandbox",
                                      "for this session alone, and nothing is saved"}};
  const auto open = [&](Scope scope, std::string label, std::string about) {
    choices.push_back({Deed{DeedKind::kOpen, scope}, std::move(label), std::move(about)});
  };
  switch (overview.coverage) {
    case Coverage::kExact: open(Scope::kProject, "Edit this project", overview.project); break;
    case Coverage::kParent:
      open(Scope::kProject, "Edit this project", cat({"parent: ", overview.project}));
      open(Scope::kNew, "New project entry", cat({overview.directory, ", a copy of its parent's"}));
      break;
    case Coverage::kNone:
      open(Scope::kProject, "New project entry", cat({overview.directory, ", a copy of your default"}));
      break;
  }
  open(Scope::kDefault, "Edit the default", "for every directory without an entry");
  return choices;
}

std::size_t moved(const Event& event, std::size_t at, std::size_t count) {
  const std::size_t last = std::max<std::size_t>(count, 1) - 1;
  switch (event.kind) {
    case EventKind::kUp: return at > 0 ? at - 1 : 0;
    case EventKind::kDown: return std::min(at + 1, last);
    case EventKind::kPageUp: return at > kPage ? at - kPage : 0;
    case EventKind::kPageDown: return std::min(at + kPage, last);
    case EventKind::kHome: return 0;
    case EventKind::kEnd: return last;
    default: return at;
  }
}

bool is_letter(const Event& event, char letter) {
  return event.kind == EventKind::kText && event.text.size() == 1 && event.text[0] == letter;
}

// Of what was added: at the end, unless it was there already.
std::size_t place_of(std::string_view text, const std::vector<Item>& items) {
  const auto found = std::ranges::find(items, text, &Item::shown);
  return found == items.end() ? items.size() - 1 : static_cast<std::size_t>(found - items.begin());
}

}  // namespace

}  // namespace hutch::tui
