// What a virtual machine is given for one run: a directory with what it writes, and what it boots from.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "backend/vm/jail.h"
#include "base/result.h"
#include "base/text.h"
#include "base/unique_fd.h"
#include "sys/files/tree.h"
#include "sys/process/process.h"

namespace hutch::backend::vm {

// What a machine writes, in a directory "PID-RANDOM" of its own; it goes with this.
class RunFiles {
 public:
  static Result<RunFiles> make(const std::string& directory);
  RunFiles(RunFiles&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  RunFiles& operator=(RunFiles&&) = delete;
  ~RunFiles() {
    if (!path_.empty()) (void)sys::remove_tree(path_);
  }
  const std::string& path() const { return path_; }
  std::string file(std::string_view name) const { return cat({path_, "/", name}); }

 private:
  explicit RunFiles(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// A machine's memory: a file of that size without a name, of which nothing is used.
Result<UniqueFd> new_memory(std::uint64_t bytes);

// A disk of 8 GB for what is changed of the system: a process begins to make an empty file system on it. Code::kSystem
// where mke2fs(8) fails; where there is no process nothing is waited for.
Result<sys::ChildProcess> begin_disk(const std::string& path);
Status await_disk(sys::ChildProcess& making);

// The same with what is on another such disk.
Status copy_changes(const std::string& from, const std::string& path);

// What the kernel unpacks: the guest as its first process, and the modules in their order.
Status write_initramfs(const std::string& path, const std::string& guest_program,
                       const std::vector<std::string>& modules);

// Where the host's programs and libraries are.
Result<std::vector<SystemName>> system_names();

}  // namespace hutch::backend::vm
