// Hiding what a sandbox that runs has seen, and showing it again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sys/files/mount_table.h"
#include "wire/access.h"

namespace hutch::guest {

class Hider {
 public:
  // `mounts` is a descriptor of the sandbox's mount namespace. `task` is looked up among the host's files: this process
  // still sees them.
  static Result<Hider> look(const wire::Cover& task, int mounts);
  // Once this process is in the sandbox's namespaces of users and mounts. Each cover goes onto the very file that was
  // found, by its descriptor, in each mount that shows it: one that is renamed meanwhile takes its cover along.
  wire::Covered cover() const;

 private:
  // A file has one place in its file system, whatever it is called in a sandbox.
  struct Place {
    std::vector<plan::MountStep> steps;
    std::string device;  // as sys/files/mount_table.h has it
    std::string path;  // in the file system
    std::string error;  // why it was not found
  };
  // kElsewhere: what lies above it, or another mount on it, hides it there, or shows it as one of its own.
  enum class Seen { kCovered, kElsewhere, kMoved };

  Hider(int mounts, UniqueFd proc) : mounts_(mounts), proc_(std::move(proc)) {}
  Status find(Place& place) const;
  using Table = std::vector<sys::MountEntry>;
  Status cover(const Place& place, Table& table, std::vector<std::uint64_t>& made) const;
  Result<Seen> cover_in(const sys::MountEntry& mount, const std::string& inner, const Place& place,
                        std::vector<std::uint64_t>& made) const;
  Result<UniqueFd> tree_for(const Place& place, const std::string& at) const;

  int mounts_ = -1;
  UniqueFd proc_;
  std::vector<Place> places_;
};

// Takes the mounts of that task off, for a process in the sandbox's namespaces. `proc` is a proc(5) that knows it.
Status uncover(int proc, const wire::Uncover& task);

}  // namespace hutch::guest
