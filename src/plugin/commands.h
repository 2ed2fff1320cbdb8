// What is looked at in a recipe's commands and dependencies: which hosts they name, and what a package is called
// elsewhere. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plugin/recipe.h"

namespace hutch::plugin {

// Of every address of the form scheme://host in a command. An error where one has a host that cannot be read from the
// text, a user in it, or an address of the network: whoever writes it says plainly where it goes.
Result<std::vector<std::string>> hosts_in(std::string_view command);

// The commands of a recipe that an agent made name these hosts alone.
Status check_hosts(const Recipe& recipe, const std::vector<std::string>& allowed);

// The packages for a manager of the sandbox ("apk", "apt", "dnf"). A plain list has Alpine's names, which are
// translated; an error where the recipe has names for other managers alone.
Result<std::vector<std::string>> packages_for(const Recipe& recipe, std::string_view manager);

}  // namespace hutch::plugin
