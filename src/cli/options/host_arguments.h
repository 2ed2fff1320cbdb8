// What is typed about what an agent is offered from outside its sandbox.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/options/question_arguments.h"
#include "service/common/request.h"

namespace hutch::cli {

struct SecretArguments {
  std::string action{};  // set, check, list, remove, answer, key
  std::string agent{};   // empty: that of the working directory; of list all
  std::string name{};    // of key: where it is to be; empty: as it is
  std::string via{};     // bridge, environment, placeholder; empty: as hosts say
  std::vector<std::string> hosts{};
  std::string file{};    // that holds the value; empty: a prompt on a terminal, else standard input
  service::OutputForm form = service::OutputForm::kText;
};

struct PluginArguments {
  std::string
      action{};  // list, show, install, remove, import, export, duplicate, create, edit, check, update, rollback
  std::string source{};  // a plugin's id, or where a recipe is: a file, an address, a repository, "-"
  std::string second{};  // of duplicate the name, of update where the recipe is
  std::int64_t number = 0;  // of a version; 0: the current one, or of rollback the one before
  std::vector<std::string> agents{};
  bool library = false;
  bool only_new = false;
  service::OutputForm form = service::OutputForm::kText;
};

struct SkillArguments {
  std::string action{};  // list, show, enable, disable
  std::string name{};
  service::OutputForm form = service::OutputForm::kText;
};

struct EventsArguments {
  std::string agent{};
  std::vector<std::string> types{};  // empty: all
  Follow follow = Follow::kNo;
  service::OutputForm form = service::OutputForm::kText;
};

struct MemoryArguments {
  std::string action{};  // query, add, remove
  std::string agent{};
  std::string text{};  // of query, empty: the newest; of add "-": standard input
  std::int64_t id = 0;
  service::OutputForm form = service::OutputForm::kText;
};

}  // namespace hutch::cli
