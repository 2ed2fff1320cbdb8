// The story of a copy.
#include "service/share/copy.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "plan/setup/share_copy.h"
#include "service/prepare/os_user_files.h"
#include "service/share/files.h"
#include "service/share/path.h"
#include "store/record.h"
#include "store/spool.h"
#include "sys/files/journal.h"
#include "wire/files.h"

namespace hutch::service {

namespace {

using store::Copy;

// 0: there was nothing.
Result<std::uint64_t> remove_at(sandbox::Files& files, const Copy& copy, const std::string& name) {
  const auto reply = TRY(files.ask(wire::RemoveFile{{copy.home, name}, wire::RemoveFile::Tree::kForce}));
  return std::get<wire::FileRemoved>(reply).entries;
}

// What was recorded of that place before is gone: nothing is there.
Status forget_earlier_copies(store::Shares& registry, sandbox::Files& files, const Copy& copy) {
  for (const Copy& other : TRY(registry.copies())) {
    if (other.agent != copy.agent || other.into != copy.into) continue;
    if (other.state == Copy::State::kCopying) TRY(remove_at(files, other, other.temporary));
    TRY(registry.remove_copy(other.id));
  }
  return {};
}

Result<CopyCounts> make(const SharePlace& place, const Copy& copy, sandbox::Files& files, const CopyVoice& voice) {
  const CopyCounts counts = TRY(copy_tree(place.parent.get(), place.name, files, copy.agent, voice));
  TRY(voice.go_on());
  TRY(files.ask(wire::EndTree{wire::EndTree::Then::kPut}));
  return counts;
}

// Its place as text: the home may be closed to who asks.
bool is_copy_of(const Copy& copy, const std::string& path, const std::string& source) {
  if (copy.source == source) return true;
  const bool in_home = path.starts_with(cat({copy.home, "/"}));
  const auto into = plan::copy_destination(in_home ? path.substr(copy.home.size() + 1) : path);
  return into && *into == copy.into;
}

Result<std::vector<plan::ShareAgent>> known_agents(store::Shares& registry, const host::OsUser& user) {
  const std::vector<store::Share> shares = TRY(registry.list());
  return agents_of(shares, {user});
}

// The source that a path names: as it was typed where that is one.
Result<std::string> named_source(store::Shares& registry, const std::string& path, std::uint32_t sharer,
                                 const std::vector<Copy>& copies) {
  const std::string typed = TRY(absolute_path(path));
  if (std::ranges::find(copies, typed, &Copy::source) != copies.end()) return typed;
  const std::vector<store::Share> shares = TRY(registry.list());
  const auto agents = TRY(agents_of(shares, {}));
  auto resolved = resolve_path(path, sharer, agents);
  if (!resolved && resolved.error().sys_errno == 0) return resolved;
  return resolved ? *resolved : typed;
}

Result<EndedCopy> end_copy(store::Shares& registry, const Copy& copy, const std::string& agent) {
  EndedCopy ended{.copy = copy};
  const auto user = TRY(host::find_os_user(copy.user));
  if (user && user->uid == copy.agent) {
    auto files = TRY(OsUserFiles::start(*user, agent));
    const bool whole = copy.state == Copy::State::kCopied;
    const std::uint64_t removed = TRY(remove_at(files.files(), copy, whole ? copy.into : copy.temporary));
    if (removed == 0) ended.files = EndedCopy::Files::kGoneAlready;
  } else {
    ended.files = EndedCopy::Files::kUserGone;
  }
  TRY(registry.remove_copy(copy.id));
  return ended;
}

}  // namespace

Result<CopyReport> copy_to_agent(const CopyRequest& request, const Sharer& sharer, const CopyVoice& voice) {
  store::Shares registry = TRY(store::Shares::open(sharer.dirs.data));
  const auto agents = TRY(known_agents(registry, request.user));
  const std::string path = TRY_CTX(resolve_path(request.path, sharer.uid, agents), "share");
  TRY(check_place(path, request.user, sharer));
  CopyReport report;
  Copy& copy = report.copy;
  copy = {.source = path,
          .user = request.user.name,
          .agent = request.user.uid,
          .home = request.user.home,
          .into = TRY(plan::copy_destination(request.into)),
          .temporary = cat({plan::kCopyTemporary, TRY(sys::random_hex(8))}),
          .since = store::format_time(store::now())};
  const SharePlace place = TRY(find_place(path));
  auto agent = TRY(OsUserFiles::start(request.user, request.agent));
  TRY(agent.files().ask(wire::BeginTree{{copy.home, copy.into}, copy.temporary}));
  TRY(forget_earlier_copies(registry, agent.files(), copy));
  // From here on what is there can be found again.
  copy.id = TRY(registry.add_copy(copy));
  auto counts = make(place, copy, agent.files(), voice);
  if (!counts) {
    // Where it cannot be removed now, the registry goes on knowing it.
    (void)agent.files().ask(wire::EndTree{wire::EndTree::Then::kDrop});
    const bool removed = remove_at(agent.files(), copy, copy.temporary).has_value();
    if (removed) TRY(registry.remove_copy(copy.id));
    const std::string left =
        removed ? "nothing of it is left" : cat({"hutch unshare ", shell_word(copy.into), " removes what is left"});
    return fail(std::move(counts).error().with_context(cat({"copy ", printable(path), " (", left, ")"})));
  }
  TRY(registry.finish_copy(copy.id));
  copy.state = Copy::State::kCopied;
  report.counts = *counts;
  return report;
}

Result<std::vector<std::string>> copy_commands(const CopyRequest& request, const Sharer& sharer) {
  const auto agents = TRY(agents_of({}, {request.user}));
  const std::string path = TRY_CTX(resolve_path(request.path, sharer.uid, agents), "share");
  TRY(check_place(path, request.user, sharer));
  const SharePlace place = TRY(find_place(path));
  const bool is_file = place.status.kind == sys::EntryKind::kFile;
  return plan::copy_commands({.source = path,
                              .kind = is_file ? plan::CopyCommands::Kind::kFile : plan::CopyCommands::Kind::kDirectory,
                              .user = request.user.name,
                              .home = request.user.home,
                              .into = TRY(plan::copy_destination(request.into))},
                             plan::Platform::kLinux);
}

Result<std::vector<Copy>> list_copies(const Sharer& sharer) {
  store::Shares registry = TRY(store::Shares::open(sharer.dirs.data));
  return registry.copies();
}

Result<std::vector<EndedCopy>> end_copies(const std::string& path, const std::string& user, const std::string& agent,
                                          const Sharer& sharer,
                                          const std::function<Status(const std::vector<Copy>&)>& consent) {
  store::Shares registry = TRY(store::Shares::open(sharer.dirs.data));
  std::vector<Copy> copies = TRY(registry.copies());
  const std::string source = TRY(named_source(registry, path, sharer.uid, copies));
  std::erase_if(copies, [&](const Copy& copy) {
    return (!user.empty() && copy.user != user) || !is_copy_of(copy, path, source);
  });
  if (copies.empty()) return fail(Error::not_found(cat({printable(path), " is no copy, and none was made of it"})));
  TRY(consent(copies));
  std::vector<EndedCopy> ended;
  for (const Copy& copy : copies) ended.push_back(TRY(end_copy(registry, copy, agent)));
  return ended;
}

}  // namespace hutch::service
