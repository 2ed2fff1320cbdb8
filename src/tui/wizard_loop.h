// The wizard on a terminal: keys to its states, its states to the screen, and what it wants done to those who do it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tui/wizard.h"

namespace hutch::tui {

// What the wizard has done for it.
struct Outside {
  struct Saved {
    Opened opened;
    std::string note;  // what a person has to know of it
  };
  std::function<Overview()> overview;
  std::function<Result<Opened>(policy::Scope scope)> open;
  std::function<Result<Saved>(policy::Scope scope, const std::vector<policy::Edit>& edits)> save;
  std::function<Status(policy::Switch enabled)> toggle;
};

enum class WizardEnd { kLeft, kEnabled, kDisabled, kInterrupted };

// On standard input and output, which have to be a terminal; it is as before afterwards. A signal that ends a program
// ends this one, once the terminal is.
Result<WizardEnd> run_wizard(const Outside& outside);

}  // namespace hutch::tui
