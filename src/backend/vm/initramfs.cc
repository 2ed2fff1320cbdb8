// The file system that a kernel unpacks at its start.
#include "backend/vm/initramfs.h"

#include <fmt/format.h>

namespace hutch::backend::vm {

namespace {

void pad(std::string& archive) { archive.resize((archive.size() + 3) / 4 * 4, '\0'); }

void add(std::string& archive, unsigned inode, const BootFile& file) {
  // Magic, inode, mode, owner, group, links, time, size, four numbers of devices, the name's size, no checksum.
  archive += fmt::format("070701{:08X}{:08X}{:08X}{:08X}{:08X}{:08X}{:08X}{:08X}{:08X}{:08X}{:08X}{:08X}{:08X}", inode,
                         file.mode, 0, 0, 1, 0, file.bytes.size(), 0, 0, 0, 0, file.name.size() + 1, 0);
  archive += file.name;
  archive += '\0';
  pad(archive);
  archive += file.bytes;
  pad(archive);
}

}  // namespace

std::string initramfs(std::span<const BootFile> files) {
  std::string archive;
  unsigned inode = 0;
  for (const BootFile& file : files) add(archive, ++inode, file);
  add(archive, 0, {"TRAILER!!!", 0, ""});
  return archive;
}

}  // namespace hutch::backend::vm
