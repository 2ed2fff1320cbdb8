// What a login shell of an agent's sandbox said of its environment, and of which start that holds.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sandbox/resident/resident.h"

namespace hutch::service {

struct LoginEnvironment {
  std::mutex mutex;  // for all that is below
  std::vector<std::string> variables;  // empty: not asked
  std::weak_ptr<sandbox::Resident> of;  // whose it is
  std::string files;  // what the shell's files were then
};

// Later ones win.
std::vector<std::string> merged(const std::vector<std::string>& base, const std::vector<std::string>& more);

// PATH with the home's own programs first and the directory `of_host` last, where that is not empty.
std::vector<std::string> with_own_programs(std::vector<std::string> environment, const std::string& home,
                                           const std::string& of_host);

// A text that is another one once a file has changed that a login shell reads.
std::string login_files(const std::string& home);

}  // namespace hutch::service
