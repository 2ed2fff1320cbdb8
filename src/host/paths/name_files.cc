// Checks the host's resolv.conf(5) and hosts(5).
#include "host/paths/name_files.h"

#include "base/text.h"
#include "host/paths/paths.h"
#include "sys/files/beneath.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"

namespace hutch::host {

namespace {

std::string note_about_resolver(std::string_view why) {
  return cat({"/etc/resolv.conf of the host is not read, so the sandbox has no search domains: ", why});
}

// Checks the size now, because the gateway reads the file only when a program asks for a name.
void look_at_hosts(NameFiles& files) {
  auto hosts = canonical_path("/etc/hosts");
  const auto note = [&](std::string_view why) {
    files.notes.push_back(cat({"/etc/hosts of the host is not read, so its names are unknown: ", why}));
  };
  if (!hosts) return note(hosts.error().message);
  files.hosts = std::move(hosts->path);
  if (hosts->type == plan::FileType::kAbsent) return;
  if (hosts->type != plan::FileType::kFile) return note(cat({printable(files.hosts), ": is not a regular file"}));
  const auto file = sys::open(files.hosts, sys::Open::kPath);
  const auto status = file ? sys::file_status(file->get(), "") : Result<sys::FileStatus>(fail(file.error()));
  if (status && status->size > plan::kHostsBytesMax) {
    note(cat({printable(files.hosts), ": larger than ", std::to_string(plan::kHostsBytesMax), " bytes"}));
  }
}

}  // namespace

NameFiles look_at_name_files() {
  NameFiles files;
  look_at_hosts(files);
  auto resolver = canonical_path("/etc/resolv.conf");
  if (!resolver) {
    files.notes.push_back(note_about_resolver(resolver.error().message));
    return files;
  }
  files.resolver = std::move(resolver->path);
  if (resolver->type == plan::FileType::kAbsent) return files;
  // The type is checked first, because opening a device may have an effect.
  const auto text =
      resolver->type == plan::FileType::kFile
          ? sys::regular_file_text(files.resolver, plan::kResolverBytesMax)
          : Result<std::string>(fail(Error::invalid(cat({printable(files.resolver), ": is not a regular file"}))));
  if (text) files.search = plan::read_search_rules(*text);
  if (!text) files.notes.push_back(note_about_resolver(text.error().message));
  return files;
}

}  // namespace hutch::host
