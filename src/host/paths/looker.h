// Looker: resolves paths component by component and remembers every status it saw.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/path_facts.h"

namespace hutch::host {

struct Looked {
  plan::FileType type = plan::FileType::kAbsent;
  plan::Identity identity;
  std::uint32_t owner = 0;
  std::string link;
};

// One link that was followed.
struct Hop {
  std::string at;
  std::string text;
  std::uint32_t owner = 0;
};

struct Resolved {
  std::string path;
  plan::FileType type = plan::FileType::kAbsent;
  std::vector<Hop> hops;
  bool is_lost = false;  // a ".." leads out of what is not seen
};

enum class FinalLink { kFollow, kKeep };

// What somebody who does not see everything sees of a path.
struct Eyes {
  std::function<bool(std::string_view)> follows;  // the link there
  std::function<bool(std::string_view)> leaves;   // the directory there, by ".."
};

class Looker {
 public:
  // The status of a path whose directories are canonical. A path that may not be looked at counts as absent: this
  // user, and so the sandbox, cannot reach it.
  Result<const Looked*> look(const std::string& path);

  // Takes over what is known of the names in "/" already. Their identities are left out: no sandbox can swap them,
  // because its "/" is never the host's.
  void assume(const std::vector<plan::RootEntry>& root);

  // Where an absolute path leads. What does not exist is taken as written. A cycle is an error.
  Result<Resolved> resolve(std::string_view path, FinalLink final_link, const Eyes* eyes = nullptr);

  // What was seen at a path already; absent where nothing looked.
  plan::SeenPath seen(const std::string& path) const;

  // Everything seen so far.
  plan::PathFacts facts() const;

 private:
  std::map<std::string, Looked> seen_;
};

}  // namespace hutch::host
