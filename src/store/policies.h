// The user's policies: default.json and projects.json, read and changed under a lock. Nothing of them is merged.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "policy/document/edit.h"

namespace hutch::store {

using policy::Scope;

// How projects.json covers a directory.
struct Coverage {
  std::optional<std::string> project;  // the path of the entry
  bool exact = false;                  // which is the directory itself
};

struct HeldPolicy {
  std::string text;                    // JSON
  std::string file;                    // where it is; empty: built in
  std::optional<std::string> project;  // the entry of projects.json
};

class Policies {
 public:
  // `first` is JSON, for which default.json is that of policy::default_with_first(): a copy for a project begins with
  // it.
  explicit Policies(std::string directory, std::optional<std::string> first = {})
      : directory_(std::move(directory)), first_(std::move(first)) {}

  std::string default_file() const { return directory_ + "/default.json"; }
  std::string projects_file() const { return directory_ + "/projects.json"; }

  // `directory` is canonical in all of these.
  Result<Coverage> coverage(const std::string& directory) const;
  // The policy that holds there.
  Result<HeldPolicy> holding(const std::string& directory) const;
  // The one that a change in this scope begins with, and where it will be.
  Result<HeldPolicy> before_change(Scope scope, const std::string& directory) const;

  // Replaces one policy by what `change` makes of it. The file is not touched unless all of it, before and after, is
  // what the reader takes; two at once are done one after the other.
  using Change = std::function<Result<std::string>(const std::string& policy)>;
  Result<HeldPolicy> change(Scope scope, const std::string& directory, const Change& change) const;

  // Takes over all entries of another projects.json; one that is here already is an error. How many.
  Result<std::size_t> add_projects(std::string_view projects) const;

  // Every error of both files, a line each.
  std::vector<std::string> errors() const;

 private:
  struct Files {
    std::optional<std::string> defaults;
    std::optional<std::string> projects;
  };
  Result<Files> read() const;
  Result<UniqueFd> lock() const;
  Status write(const std::string& path, std::string_view text) const;
  Result<HeldPolicy> default_of(const Files& files) const;
  Result<HeldPolicy> begin(const Files& files, Scope scope, const std::string& directory) const;

  std::string directory_;
  std::optional<std::string> first_;
};

}  // namespace hutch::store
