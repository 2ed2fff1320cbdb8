// What a virtual machine is given for one run.
#include "backend/vm/run_files.h"

#include <sys/stat.h>

#include <charconv>

#include "backend/vm/initramfs.h"
#include "base/text.h"
#include "sys/files/beneath.h"
#include "sys/files/create.h"
#include "sys/files/disk.h"
#include "sys/files/files.h"
#include "sys/files/journal.h"
#include "sys/files/whole_file.h"
#include "sys/process/clone.h"
#include "sys/process/process.h"

namespace hutch::backend::vm {

namespace {

constexpr const char* kMakeFileSystem = "/usr/sbin/mke2fs";
constexpr std::uint64_t kChangesBytes = 8ULL << 30;
constexpr std::size_t kBootFileMax = 64 << 20;

// Those of a hutch that was killed.
void remove_left(const std::string& directory) {
  const auto listing = sys::open_listing(directory);
  if (!listing) return;
  const auto names = sys::names_in(listing->get(), directory);
  for (const sys::TreeEntry& entry : names.value_or(std::vector<sys::TreeEntry>())) {
    pid_t pid = 0;
    const auto read = std::from_chars(entry.name.data(), entry.name.data() + entry.name.size(), pid);
    const bool ours = read.ec == std::errc() && pid > 0 && *read.ptr == '-';
    if (ours && sys::is_over(pid)) (void)sys::remove_tree(cat({directory, "/", entry.name}));
  }
}

}  // namespace

Result<RunFiles> RunFiles::make(const std::string& directory) {
  TRY(sys::make_private_directories(directory));
  remove_left(directory);
  std::string path = cat({directory, "/", std::to_string(sys::own_pid()), "-", TRY(sys::random_hex(8))});
  TRY(sys::make_directory(sys::kCwd, path, 0700));
  return RunFiles(std::move(path));
}

Result<UniqueFd> new_memory(std::uint64_t bytes) {
  UniqueFd memory = TRY(sys::memory_file("machine", ""));
  TRY(sys::set_size(memory.get(), bytes));
  return memory;
}

Result<sys::ChildProcess> begin_disk(const std::string& path) {
  TRY(sys::make_sparse_file(path, kChangesBytes));
  const UniqueFd nothing = TRY(sys::open("/dev/null", sys::Open::kWrite));
  return sys::spawn(kMakeFileSystem, {.arguments = {"mke2fs", "-q", "-F", "-t", "ext4", "-m", "0", "-E",
                                                    "lazy_itable_init=1,lazy_journal_init=1", path},
                                      .environment = {"PATH=/usr/sbin:/usr/bin"},
                                      .install = {{nothing.get(), 0}, {nothing.get(), 1}, {nothing.get(), 2}}});
}

Status await_disk(sys::ChildProcess& making) {
  if (!making) return {};
  const sys::WaitStatus ended = TRY(making.wait());
  if (ended.exited() && ended.exit_code() == 0) return {};
  return fail({Code::kSystem, 0, cat({kMakeFileSystem, ": could not make a file system for what a machine changes"})});
}

Status copy_changes(const std::string& from, const std::string& path) {
  const UniqueFd kept = TRY_CTX(sys::open(from, sys::Open::kRead), "what was installed");
  const UniqueFd fresh = TRY(sys::make_file(sys::kCwd, path, 0600));
  if (sys::clone_content(kept.get(), fresh.get())) return {};
  return sys::copy_content(kept.get(), fresh.get(), [] { return Status(); });
}

Status write_initramfs(const std::string& path, const std::string& guest_program,
                       const std::vector<std::string>& modules) {
  std::vector<BootFile> files = {{"dev", S_IFDIR | 0755, ""},
                                 {"proc", S_IFDIR | 0755, ""},
                                 {"sys", S_IFDIR | 0755, ""},
                                 {"modules", S_IFDIR | 0755, ""}};
  for (std::size_t i = 0; i < modules.size(); ++i) {
    std::string number = std::to_string(100 + i);
    files.push_back({cat({"modules/", number}), S_IFREG | 0644, TRY(sys::regular_file_text(modules[i], kBootFileMax))});
  }
  files.push_back({"init", S_IFREG | 0755, TRY(sys::regular_file_text(guest_program, kBootFileMax))});
  return sys::replace_file(path, initramfs(files));
}

Result<std::vector<SystemName>> system_names() {
  std::vector<SystemName> names;
  for (const char* path : {"/bin", "/lib", "/lib32", "/lib64", "/sbin"}) {
    const auto status = TRY(sys::status_of(path));
    if (!status) continue;
    const bool link = status->kind == sys::EntryKind::kSymlink;
    names.push_back({path, link ? TRY(sys::read_link(path)) : std::string()});
  }
  return names;
}

}  // namespace hutch::backend::vm
