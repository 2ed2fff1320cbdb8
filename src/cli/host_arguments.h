// What is typed about what an agent is offered from outside its sandbox.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "service/request.h"

namespace hutch::cli {

struct SecretArguments {
  std::string action{};  // set, check, list, remove, answer
  std::string agent{};   // empty: that of the working directory; of list all
  std::string name{};
  std::string via{};     // bridge, environment, placeholder; empty: as hosts say
  std::vector<std::string> hosts{};
  std::string file{};    // that holds the value; empty: a prompt on a terminal, else standard input
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
