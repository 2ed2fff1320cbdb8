// Files of an OS user, made and removed by a process that is that user and can be nothing else.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "host/machine/account.h"
#include "sandbox/resident/resident.h"
#include "sandbox/run/files.h"

namespace hutch::service {

// A sandbox of the backend `user` in which nothing runs but its file server: what it is asked follows the user's paths
// with the user's rights. It ends with this.
class OsUserFiles {
 public:
  // Code::kUnsupported with the remedy where this person may not be that user. `agent` is for that remedy.
  static Result<OsUserFiles> start(const host::OsUser& user, const std::string& agent);

  sandbox::Files& files() { return *files_; }

 private:
  OsUserFiles(std::unique_ptr<sandbox::Resident> resident, std::unique_ptr<sandbox::Files> files)
      : resident_(std::move(resident)), files_(std::move(files)) {}

  std::unique_ptr<sandbox::Resident> resident_;
  std::unique_ptr<sandbox::Files> files_;
};

}  // namespace hutch::service
