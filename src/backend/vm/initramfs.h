// The file system that a kernel unpacks at its start: an archive in cpio's "newc" form (the kernel's
// Documentation/driver-api/early-userspace/buffer-format.rst).
#pragma once

#include <span>
#include <string>

namespace hutch::backend::vm {

struct BootFile {
  std::string name;  // relative; directories before what is in them
  unsigned mode = 0;  // with the file's kind, S_IFREG or S_IFDIR
  std::string bytes;
};

std::string initramfs(std::span<const BootFile> files);

}  // namespace hutch::backend::vm
