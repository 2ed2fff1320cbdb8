// What an image of our own is made of, and the words to mmdebstrap(1) that make it. No file is looked at.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hutch::service {

inline constexpr std::string_view kDefaultImage = "hutch-sandbox:latest";

struct ImageRecipe {
  std::vector<std::string> packages;
};

// Names of packages, parted by blanks and lines; what follows a "#" is for people. An error names the line.
Result<ImageRecipe> parse_recipe(std::string_view text);
// Of the default image: a shell, Python with pip, Node with npm, git, and what builds programs.
std::string_view default_recipe();

// One file of the machine's own package sources (sources.list(5)), as it is named and what it says.
struct SourcesFile {
  std::string path;
  std::string text;
};
// The lines "deb [OPTIONS] URI SUITE COMPONENT..." of the release `codename` itself, of its updates and its security,
// that have its `main`: what else the machine takes packages from is no part of a system.
std::vector<std::string> own_sources(const std::vector<SourcesFile>& files, std::string_view codename);

// The proxies that apt goes out by, as programs know them, "NAME=VALUE": of what apt-config(8) dump says. With nothing
// behind the sign there is none. Programs that find one, and proxies of single hosts, are no part of it.
std::vector<std::string> proxies_of_apt(std::string_view dump);
// In place of those that an environment has, however their names are written.
void set_proxies(std::vector<std::string>& environment, const std::vector<std::string>& proxies);

// Its arguments, to write the archive of the system to standard output.
std::vector<std::string> mmdebstrap_arguments(const ImageRecipe& recipe, const std::string& codename,
                                              const std::vector<std::string>& sources);

}  // namespace hutch::service
