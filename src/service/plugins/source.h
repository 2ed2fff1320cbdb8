// Where a recipe is read from: a file, standard input, an address, a git repository.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "host/state_dirs.h"

namespace hutch::service {

struct FetchedRecipe {
  std::string json;
  std::string from;  // as it was typed
};

// Whether a word means one of these rather than the id of a plugin in the library.
bool is_plugin_source(std::string_view word);

// Whether git may be started with it: https, http, ssh and files alone. Another transport is a program of that name
// which git starts (gitremote-helpers(7)), ext:: runs a command.
Status check_git_address(std::string_view address);

// "-"; "https://..." by curl; what ends in ".git", begins with "git+", or is a repository's page on GitHub, by git, of
// which plugin.json or osaurus.json is the recipe; else a file. What comes by http or https is fetched in a sandbox
// whose gateway lets that host through alone.
Result<FetchedRecipe> fetch_recipe(const std::string& source, const host::StateDirs& dirs);

}  // namespace hutch::service
