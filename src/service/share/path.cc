// Links, one component at a time.
#include "service/share/path.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/text.h"
#include "service/share/lists.h"
#include "sys/files/beneath.h"
#include "sys/files/files.h"
#include "sys/process/host_info.h"

namespace hutch::service {

namespace {

constexpr int kLinksMax = 40;  // as the kernel follows (path_resolution(7))

// What is done last comes first.
void push_components(std::vector<std::string>& left, std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, slash);
    path.remove_prefix(std::min(slash + 1, path.size()));
    if (!part.empty() && part != ".") parts.emplace_back(part);
  }
  left.insert(left.end(), parts.rbegin(), parts.rend());
}

// Of a path that no link leads to: "" is "/".
std::string parent_directory(const std::string& path) { return path.empty() ? path : path.substr(0, path.rfind('/')); }

Result<std::string> with_directory(const std::string& typed) {
  if (typed.empty()) return fail(Error{Code::kSystem, ENOENT, "an empty path"});
  if (typed.starts_with('/')) return typed;
  const std::string directory = TRY(sys::working_directory());
  return cat({directory, "/", typed});
}

Status check_may_lead(const std::string& path, const sys::FileStatus& link, int directory, std::uint32_t sharer,
                      std::span<const plan::ShareAgent> agents) {
  const sys::FileStatus status = TRY(sys::file_status(directory, ""));
  auto found = read_lists(directory, status);
  // Where there are no lists the mode says it all.
  if (!found && found.error().code != Code::kUnsupported) return fail(list_error(found.error(), path));
  const plan::SharedFile by_mode{
      .is_directory = true, .mode = status.mode, .of = {.owner = status.owner, .group = status.group}};
  if (plan::may_lead(link.owner, found ? *found : by_mode, sharer, agents)) return {};
  return fail({Code::kPermissionDenied, 0,
               cat({printable(path),
                    " is a symbolic link that is not yours, or that an agent may have put there:"
                    " name what it leads to"})});
}

}  // namespace

Result<std::vector<plan::ShareAgent>> agents_of(const std::vector<store::Share>& shares,
                                                const std::vector<host::OsUser>& more) {
  std::vector<plan::ShareAgent> agents;
  for (const host::OsUser& user : more) agents.push_back({user.uid, user.groups});
  for (const store::Share& share : shares) {
    if (std::ranges::find(agents, share.agent, &plan::ShareAgent::uid) != agents.end()) continue;
    const auto user = TRY(host::find_os_user(share.user));
    const bool is_there = user && user->uid == share.agent;
    agents.push_back({share.agent, is_there ? user->groups : std::vector<std::uint32_t>()});
  }
  return agents;
}

Result<std::string> absolute_path(const std::string& typed) {
  std::vector<std::string> left;
  push_components(left, TRY(with_directory(typed)));
  std::string path;
  for (; !left.empty(); left.pop_back())
    path = left.back() == ".." ? parent_directory(path) : cat({path, "/", left.back()});
  return path.empty() ? "/" : path;
}

Result<std::string> resolve_path(const std::string& typed, std::uint32_t sharer,
                                 std::span<const plan::ShareAgent> agents) {
  std::vector<std::string> left;
  push_components(left, TRY(with_directory(typed)));
  std::string path;
  for (int links = 0; !left.empty();) {
    const std::string name = std::move(left.back());
    left.pop_back();
    if (name == "..") {
      path = parent_directory(path);
      continue;
    }
    const UniqueFd directory = TRY(sys::open_exact(path.empty() ? "/" : path));
    const UniqueFd entry = TRY(sys::open_beneath(directory.get(), name, sys::Beneath::kLink));
    const sys::FileStatus status = TRY(sys::file_status(entry.get(), ""));
    const std::string whole = cat({path, "/", name});
    if (status.kind != sys::EntryKind::kSymlink) {
      path = whole;
      continue;
    }
    TRY(check_may_lead(whole, status, directory.get(), sharer, agents));
    const std::string text = TRY(sys::link_text(entry.get(), ""));
    if (++links > kLinksMax) return fail(Error{Code::kSystem, ELOOP, cat({printable(typed), ": too many links"})});
    if (text.starts_with('/')) path.clear();
    push_components(left, text);
  }
  return path.empty() ? "/" : path;
}

}  // namespace hutch::service
