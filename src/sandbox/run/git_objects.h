// Reads objects of a repository that a sandbox may write, in a process of its own that may only read files.
#pragma once

#include <string>

#include "base/result.h"
#include "sys/process/process.h"
#include "wire/git_objects.h"

namespace hutch::sandbox {

struct GitObjectsProcess {
  sys::ChildProcess process;
  wire::GitObjectStream objects;

  // `repository` has the directory "objects", which is no link.
  static Result<GitObjectsProcess> start(const std::string& guest_program, const std::string& repository);
};

}  // namespace hutch::sandbox
