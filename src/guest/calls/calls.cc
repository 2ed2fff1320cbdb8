// The calls that the access supervisor makes for others.
#include "guest/calls/calls.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/text.h"
#include "plan/git/files.h"
#include "plan/paths/names.h"
#include "sys/files/beneath.h"
#include "sys/files/files.h"
#include "sys/io.h"
#include "sys/process/process.h"

namespace hutch::guest {

namespace {

constexpr int kCallTries = 16;
constexpr int kFollowedLinksMax = 40;  // the kernel's own limit (path_resolution(7))
constexpr unsigned kNew = 1;       // RENAME_NOREPLACE of renameat2(2)
constexpr unsigned kExchange = 2;  // RENAME_EXCHANGE
constexpr std::uint64_t kInodeMask = INT64_MAX;  // an answer below zero is an error

Result<CallAnswer> let_through() { return CallAnswer(LetThrough{}); }
Result<CallAnswer> done(Status made) {
  TRY(made);
  return CallAnswer(Done{});
}

bool gives_rights(mode_t kind, mode_t wanted) { return !S_ISDIR(kind) && (wanted & kGiveRights) != 0; }

// Whether the sandbox's user namespace, which is also this process's, maps these ids. The kernel's chown(2) fails with
// EINVAL for other ids. Programs that run without root's rights expect only EPERM, and continue after it: fakeroot(1),
// tar(1).
bool has_ids(std::uint32_t uid, std::uint32_t gid) {
  const auto file = sys::memory_file("owner", {});
  if (!file) return true;
  const Status given = sys::set_owner_of(file->get(), uid, gid);
  return given || given.error().sys_errno != EINVAL;
}

// A file capability gives rights too (capabilities(7)).
constexpr const char* kCapabilities = "security.capability";

bool reads_only(int flags) { return (flags & O_ACCMODE) == O_RDONLY; }

bool has(int flags, int wanted) { return (flags & wanted) == wanted; }

// What a caller's flags leave for open_at(), which adds its own.
int plain_flags(int flags) { return flags & ~(O_CREAT | O_EXCL | O_TRUNC | O_CLOEXEC | O_NONBLOCK); }

// Another file has the name, or none.
bool is_another_by_now(const Error& error) { return error.sys_errno == ESTALE || error.sys_errno == ENOENT; }

// A file that gets its name later; under one that nobody has.
Result<UniqueFd> make_own(int directory, mode_t mode, std::string& name) {
  static std::uint64_t count = 0;
  for (int tries = 0;; ++tries) {
    name = cat({".hutch-", std::to_string(sys::own_pid()), ".", std::to_string(++count)});
    auto made = sys::make_at(directory, name, O_WRONLY, mode);
    if (made || made.error().sys_errno != EEXIST || tries == kCallTries) return made;
  }
}

// What had the name gets the other one; with something else than a regular file all stays as it was.
Status exchange(int directory, const std::string& name, const std::string& with) {
  TRY(sys::rename_with(directory, name, directory, with, kExchange));
  const auto old = sys::look_at_name(directory, name);
  if (!old || S_ISREG(old->mode)) return {};
  TRY(sys::rename_with(directory, name, directory, with, kExchange));
  return call_error(ESTALE);
}

Result<CallAnswer> opened(const AccessCall& call, UniqueFd file) {
  if (!has(call.flags, O_NONBLOCK)) TRY(sys::clear_nonblocking(file.get()));
  return CallAnswer(Opened{std::move(file), on_exec(call)});
}

}  // namespace

Result<CallAnswer> AccessCalls::make_call(const AccessCall& call) const {
  using enum AccessKind;
  switch (call.kind) {
    case kOpen: return open(call);
    case kCreationMask: umasks_.forget(); return let_through();
    case kMakeDirectory:
    case kMakeNode:
    case kMakeSymlink: return make(call);
    case kRemove: return remove(call);
    case kRename: return rename(call);
    case kLink: return link(call);
    case kPutContent: return put_content(call);
    case kAskAccess: return ask_access(call);
    case kLook: return let_through();
    case kConnect:
    case kBind: return fail(call_error(EOPNOTSUPP).error());  // AccessSockets handles both
    case kMode:
    case kOwner:
    case kTimes:
    case kTruncate:
    case kSetAttribute:
    case kRemoveAttribute: return change(call);
  }
  return let_through();
}

Result<CallAnswer> AccessCalls::open(const AccessCall& call) const {
  const bool changes = (call.flags & (O_ACCMODE | O_CREAT | O_TRUNC)) != 0;
  if (has(call.flags, O_PATH) || !changes || call.descriptor) return let_through();
  // A mode in openat2(2)'s structure lies in memory, which the filter cannot read.
  if (has(call.flags, O_CREAT) && gives_rights(S_IFREG, call.mode)) return fail(call_error(EPERM).error());
  // Nobody makes a directory so; the kernel says what is wrong with it.
  if (has(call.flags, O_CREAT | O_DIRECTORY)) return let_through();
  const bool only_new = has(call.flags, O_CREAT | O_EXCL);
  const auto last = only_new || has(call.flags, O_NOFOLLOW) ? sys::LastLink::kKeep : sys::LastLink::kFollow;
  if (auto answer = TRY(open_plainly(call))) return std::move(*answer);
  for (int i = 0; i < kCallTries; ++i) {
    const auto found = places_.object(call.path, last, call.resolve);
    if (!found && found.error().sys_errno == ENOENT && has(call.flags, O_CREAT) && !has(call.flags, O_TMPFILE)) {
      return make_file(call);
    }
    if (!found) return unresolved(call, found.error());
    if (!*found) return let_through();
    const Object& object = **found;
    if (only_new && !has(call.flags, O_TMPFILE)) {
      if (auto replaced = TRY(open_replaced(call, object.entry))) return std::move(*replaced);
    }
    // Programs then make a file with a name, which can be looked at.
    if (has(call.flags, O_TMPFILE)) return fail(call_error(EOPNOTSUPP).error());
    if (only_new && call.path.text.ends_with('/')) return let_through();
    if (only_new) return fail(call_error(EEXIST).error());
    if (S_ISLNK(object.what.mode)) return fail(call_error(ELOOP).error());
    if (!S_ISREG(object.what.mode)) return let_through();
    auto answer = open_existing(call, object.entry, [&](int flags) { return open_object(object, flags); });
    if (!answer && is_another_by_now(answer.error())) continue;
    return answer;
  }
  return fail(call_error(EBUSY).error());
}

// The ordinary case, with few calls: the name is in a directory that is known, or is made there, and is no link.
// Absent: it is not that case, or it has changed meanwhile.
Result<std::optional<CallAnswer>> AccessCalls::open_plainly(const AccessCall& call) const {
  if (has(call.flags, O_TMPFILE)) return std::optional<CallAnswer>();
  const auto place = TRY(places_.named(call.path, call.resolve));
  if (!place || place->name.ends_with('/')) return std::optional<CallAnswer>();
  const bool supervised = !place->path.empty();
  if (supervised && has(call.flags, O_CREAT)) {
    if (auto made = TRY(make_plainly(call, *place))) return made;
  }
  const auto found = sys::look_at_name(supervised ? place->at() : place->directory->seen.get(), place->name);
  const bool absent = !found && found.error().sys_errno == ENOENT;
  if (!found && !absent) return std::optional<CallAnswer>();
  const sys::Resolved& above = supervised ? place->directory->twin : place->directory->what;
  // What is mounted on a name is of another tree.
  if (found && (S_ISLNK(found->mode) || found->mount != above.mount)) return std::optional<CallAnswer>();
  if (!supervised) return let_through();
  if (absent && !has(call.flags, O_CREAT)) return fail(found.error());
  if (absent) return std::optional<CallAnswer>();
  if (!S_ISREG(found->mode) || has(call.flags, O_CREAT | O_EXCL)) return std::optional<CallAnswer>();
  auto answer = open_existing(call, *place, [&](int flags) { return open_named(*place, *found, flags); });
  if (!answer && is_another_by_now(answer.error())) return std::optional<CallAnswer>();
  if (!answer) return fail(std::move(answer).error());
  return std::optional(std::move(*answer));
}

Result<std::optional<CallAnswer>> AccessCalls::make_plainly(const AccessCall& call, const Entry& entry) const {
  if (auto judged = TRY(open_judged(call, entry))) return judged;
  if (auto replaced = TRY(open_replaced(call, entry))) return replaced;
  TRY(judge(call, entry.path));
  const MadeName made = TRY(judge_git(call, entry, MadeOf::kContent));
  TRY(take_umask(call));
  const int flags = plain_flags(call.flags) | (call.flags & O_NONBLOCK);
  auto file = sys::make_at(entry.at(), entry.name, flags, call.mode);
  if (!file && file.error().sys_errno == EEXIST) return std::optional<CallAnswer>();
  if (!file) return fail(std::move(file).error());
  TRY(keep_made(call, entry, made));
  TRY(keep_lock(entry, *file));
  if (reads_only(call.flags)) return TRY(hand_over_made(call, entry, std::move(*file)));
  TRY(places_.hand_over(*file, entry.directory->twin.mount));
  return CallAnswer(Opened{std::move(*file), on_exec(call)});
}

// Nothing is cut off before it is sure which file it is.
Result<CallAnswer> AccessCalls::open_existing(const AccessCall& call, const Entry& entry,
                                              const OpenSame& open_same) const {
  if (auto judged = TRY(open_judged(call, entry))) return std::move(*judged);
  TRY(judge(call, entry.path));
  TRY(judge_git(call, entry, MadeOf::kContent));
  auto [file, what] = TRY(open_same(plain_flags(call.flags)));
  TRY(judge_lock(call, entry, what));
  TRY(judge_linked(call, entry, what));
  // As in judge_made(): a configuration must not become one of a repository between the judgement and this moment.
  TRY(judge_git(call, entry, MadeOf::kContent, Places::Outlook::kNow));
  // To cut off a large file takes long.
  asked_.turns.give_back();
  if (has(call.flags, O_TRUNC) && !reads_only(call.flags)) {
    TRY(sys::truncate_file(file.get(), 0));
  } else if (has(call.flags, O_TRUNC)) {
    const OpenedFile writable = TRY(open_same(O_WRONLY));
    TRY(sys::truncate_file(writable.file.get(), 0));
  }
  return opened(call, std::move(file));
}

// A descriptor of the writable copy allows every change of content without another question: write, truncate, map,
// allocate, copy into. The process can also pass it on, and reopen the file for reading through proc(5) while some
// descriptor of the file is open. The supervisor has judged the name for that. It judges other changes (reopening for
// writing, mode, owner, times, attributes) by the name that the file has at that time (plan/filter/descriptor_calls.h).
Status AccessCalls::give_for_writing(const UniqueFd& file, const sys::Resolved& what) const {
  if (S_ISREG(what.mode) && (what.mode & kGiveRights) != 0) {
    // write(2) drops these bits as well. A write through a shared mapping would leave them set (mmap(2)).
    TRY(sys::set_mode_of(file.get(), what.mode & 07777 & ~kGiveRights));
  }
  const bool runs = (what.mode & (S_IXUSR | S_IXGRP | S_IXOTH)) != 0;
  if (runs && sys::has_attribute(file.get(), kCapabilities)) return call_error(EPERM);
  return places_.hand_over(file, what.mount);
}

// A descriptor for reading lies on the sandbox's own mount, which is read-only: nobody can change a file through it,
// and the supervisor judges each attempt to reopen it for writing.
Result<AccessCalls::OpenedFile> AccessCalls::open_named(const Entry& entry, const sys::Resolved& what,
                                                        int flags) const {
  const bool reads = reads_only(flags) && entry.directory->seen;
  UniqueFd file = TRY(sys::open_at(reads ? entry.directory->seen.get() : entry.at(), entry.name, flags, 0));
  const sys::Resolved found = TRY(sys::look_at(file.get()));
  if (!found.is_same(what)) return fail(call_error(ESTALE).error());
  if (!reads) TRY(give_for_writing(file, found));
  return OpenedFile{std::move(file), found};
}

Result<AccessCalls::OpenedFile> AccessCalls::open_object(const Object& object, int flags) const {
  const bool nameless = object.entry.name.empty();
  if (!nameless && !reads_only(flags)) return open_named(object.entry, object.what, flags);
  UniqueFd file = TRY(sys::open_again(object.seen ? object.seen.get() : object.handle.get(), flags));
  if (!reads_only(flags)) TRY(give_for_writing(file, object.what));
  const sys::Resolved what = TRY(sys::look_at(file.get()));
  return OpenedFile{std::move(file), what};
}

// This call has made the file, or may have made it.
Result<CallAnswer> AccessCalls::hand_over_made(const AccessCall& call, const Entry& entry, UniqueFd file) const {
  const sys::Resolved what = TRY(sys::look_at(file.get()));
  if (!S_ISREG(what.mode)) return let_through();
  if (reads_only(call.flags)) {
    const int flags = plain_flags(call.flags);
    return opened(call, TRY(open_for_reading(entry, std::move(file), what, flags)));
  }
  TRY(give_for_writing(file, what));
  return opened(call, std::move(file));
}

// The process that makes a file can read it, whatever its mode.
Result<UniqueFd> AccessCalls::open_for_reading(const Entry& entry, UniqueFd made, const sys::Resolved& what,
                                               int flags) const {
  const auto open = [&] { return sys::open_at(entry.directory->seen.get(), entry.name, flags, 0); };
  auto seen = open();
  if (!seen && seen.error().sys_errno == EACCES && (what.mode & S_IRUSR) == 0) {
    TRY(sys::set_mode_of(made.get(), (what.mode & 0777) | S_IRUSR));
    seen = open();
    TRY(sys::set_mode_of(made.get(), what.mode & 0777));
  }
  if (seen && TRY(sys::look_at(seen->get())).is_same(what)) return std::move(*seen);
  // The sandbox does not see yet what was granted in a hidden directory: the writable descriptor is the only one.
  if (entry.directory->changes != Directory::Changes::kGranted) return fail(call_error(EBUSY).error());
  TRY(give_for_writing(made, what));
  return made;
}

// A symbolic link to a name that is not there yet is followed, as the kernel does.
Result<CallAnswer> AccessCalls::make_file(const AccessCall& call) const {
  CallerPath path = call.path;
  const bool follows = !has(call.flags, O_EXCL) && !has(call.flags, O_NOFOLLOW) && call.resolve == 0;
  for (int i = 0; i < kFollowedLinksMax; ++i) {
    const auto entry = TRY(places_.entry(path, call.resolve));
    if (!entry || entry->name.ends_with('/')) return let_through();
    if (follows) {
      if (auto link = places_.link_at(path)) {
        const std::size_t slash = path.text.rfind('/');
        const bool relative = !link->starts_with('/') && slash != std::string::npos;
        path.text = relative ? cat({path.text.substr(0, slash + 1), *link}) : std::move(*link);
        continue;
      }
    }
    if (auto judged = TRY(open_judged(call, *entry))) return std::move(*judged);
    if (auto replaced = TRY(open_replaced(call, *entry))) return std::move(*replaced);
    TRY(judge(call, entry->path));
    const MadeName made = TRY(judge_git(call, *entry, MadeOf::kContent));
    TRY(take_umask(call));
    const bool is_lock = is_config_lock(*entry);
    const bool cuts = has(call.flags, O_TRUNC) && !reads_only(call.flags);
    const int kept = call.flags & (cuts ? O_EXCL : O_EXCL | O_TRUNC);
    const int flags = plain_flags(call.flags) | kept | O_CREAT | (is_lock ? O_EXCL : 0);
    const bool was_there = sys::look_at_name(entry->at(), entry->name).has_value();
    auto file = sys::open_at(entry->at(), entry->name, flags, call.mode);
    if (!file && file.error().sys_errno == ELOOP && follows) continue;
    if (!file) return fail(std::move(file).error());
    TRY(was_there ? judge_made(call, *entry, made) : keep_made(call, *entry, made));
    if (is_lock) TRY(keep_lock(*entry, *file));
    asked_.turns.give_back();
    if (cuts) TRY(sys::truncate_file(file->get(), 0));
    return hand_over_made(call, *entry, std::move(*file));
  }
  return fail(call_error(ELOOP).error());
}

Result<CallAnswer> AccessCalls::make(const AccessCall& call) const {
  const auto entry = TRY(places_.entry(call.path, 0));
  if (!entry) return let_through();
  if (auto linked = TRY(link_replaced(call, *entry))) return std::move(*linked);
  // The kernel says so before it asks who may write there, and programs that make what they need rely on it.
  if (sys::look_at_name(entry->at(), entry->name)) return fail(call_error(EEXIST).error());
  const bool directory_only = call.kind == AccessKind::kMakeDirectory;
  // No program obeys an empty directory.
  if (!directory_only || !replaceable(call, *entry)) TRY(judge(call, entry->path));
  const MadeName made = TRY(judge_git(call, *entry, directory_only ? MadeOf::kNewDirectory : MadeOf::kMoved));
  if (!directory_only) TRY(judge_link(call, *entry));
  const int directory = entry->at();
  if (call.kind == AccessKind::kMakeSymlink) {
    TRY(judge_name(call, entry->path));
    TRY(judge_git_link(call, entry->path, call.text));
    TRY(sys::make_symlink_at(call.text, directory, entry->name));
    return done(keep_made(call, *entry, made));
  }
  const bool is_special = !directory_only && (call.mode & S_IFMT) != 0 && !S_ISREG(call.mode);
  if (is_special) TRY(judge_special(call, entry->path));
  TRY(take_umask(call));
  if (!directory_only && gives_rights(call.mode, call.mode)) return fail(call_error(EPERM).error());
  TRY(directory_only ? sys::make_directory_at(directory, entry->name, call.mode)
                     : sys::make_node_at(directory, entry->name, call.mode, call.device));
  TRY(keep_made(call, *entry, made));
  if (directory_only) repositories_.made(*entry);
  return CallAnswer(Done());
}

Result<CallAnswer> AccessCalls::remove(const AccessCall& call) const {
  const auto entry = TRY(places_.entry(call.path, 0));
  if (!entry) return let_through();
  if (auto removed = TRY(remove_replaced(call, *entry))) return std::move(*removed);
  TRY(judge_removal(call, *entry));
  if (is_repository(*entry)) repositories_.taken_apart(entry->at());
  TRY(sys::unlink_with(entry->at(), entry->name, call.flags));
  // What gets the name next is another one.
  if (worked_.ends(entry->path)) asked_.ended_operation(entry->path);
  return done({});
}

// Into, out of or between other mounts the kernel refuses: EXDEV.
Result<CallAnswer> AccessCalls::rename(const AccessCall& call) const {
  const auto found = TRY(places_.entries(call.path, call.other));
  if (!found) return let_through();
  const auto& [from, to] = *found;
  const auto moved = sys::look_at_name(from.at(), from.name);
  if (!moved && moved.error().sys_errno == ENOENT) return fail(call_error(ENOENT).error());
  const auto flags = static_cast<unsigned>(call.flags);
  // To move such a file away is to remove it. If it comes back, hutch judges its content.
  const bool leaves = (flags & kExchange) == 0 && is_own_git_config(from);
  TRY(leaves ? judge_removal(call, from) : judge(call, from.path));
  TRY(judge_lock(call, from));
  if (is_config_lock(to)) return fail(refuse_git(call, to.path).error());
  if (is_new_git_config(from, to)) return done(replace_git_config(call, from, to));
  TRY(judge_rules(call, to.path));
  TRY(judge_move(call, from, to));
  if (is_kept(from)) return fail(refuse_git(call, from.path).error());
  TRY(announce_move(call, from, to));
  if ((flags & kExchange) != 0) TRY(announce_move(call, to, from));
  if (is_repository(from)) repositories_.taken_apart(from.at());
  const MadeName made = TRY(judge_git(call, to, MadeOf::kMoved, Places::Outlook::kNow));
  if ((flags & kExchange) == 0) {
    TRY(outlive_turn(to));
    TRY(sys::rename_with(from.at(), from.name, to.at(), to.name, flags));
    tell_moved(from, to);
    Status kept = judge_made(call, to, made);
    if (kept) return done({});
    // The old name may mean something else by now.
    const bool is_back = sys::rename_with(to.at(), to.name, from.at(), from.name, kNew).has_value();
    if (is_back) tell_moved(to, from);
    if (!is_back)
      take_back(to);
    else if (!judge_made(call, from, {MadeOf::kMoved, false}))
      take_back(from);
    return fail(std::move(kept).error());
  }
  TRY(judge_move(call, to, from));
  const MadeName other = TRY(judge_git(call, from, MadeOf::kMoved, Places::Outlook::kNow));
  TRY(sys::rename_with(from.at(), from.name, to.at(), to.name, flags));
  tell_exchanged(from, to);
  Status kept = judge_made(call, to, made);
  if (kept) kept = judge_made(call, from, other);
  if (kept) return done({});
  if (sys::rename_with(to.at(), to.name, from.at(), from.name, flags)) {
    tell_exchanged(from, to);
  } else {
    take_back(to);
    take_back(from);
  }
  return fail(std::move(kept).error());
}

// Whoever asks for it may make each of its calls as well: one file that is made, and gets the name of another.
Result<CallAnswer> AccessCalls::put_content(const AccessCall& call) const {
  const auto to = TRY(places_.entry(call.path, 0));
  if (!to || to->name.ends_with('/')) return let_through();
  TRY(judge(call, to->path));
  TRY(judge_link(call, *to));
  if (is_config_lock(*to)) return fail(refuse_git(call, to->path).error());
  const MadeName made = TRY(judge_git(call, *to, MadeOf::kContent, Places::Outlook::kNow));
  const auto there = sys::look_at_name(to->at(), to->name);
  if (there && !S_ISREG(there->mode)) return fail(call_error(ESTALE).error());
  umasks_.take_none();
  std::string own;
  if (there) TRY(outlive_turn(*to));
  const UniqueFd file = TRY(make_own(to->at(), call.mode, own));
  const auto what = sys::look_at(file.get());
  Status put = what ? sys::write_all(file.get(), call.text) : Status(fail(what.error()));
  if (put) put = there ? exchange(to->at(), own, to->name) : sys::rename_with(to->at(), own, to->at(), to->name, kNew);
  if (put) {
    put = judge_made(call, *to, made);
    if (!put && there) (void)exchange(to->at(), own, to->name);
    if (!put && !there) take_back(*to);
  }
  // The old file by now, or the new one that came to nothing.
  if (there || !put) (void)sys::unlink_with(to->at(), own, 0);
  TRY(put);
  return CallAnswer(Done{static_cast<std::int64_t>(what->inode & kInodeMask)});
}

Result<CallAnswer> AccessCalls::link(const AccessCall& call) const {
  if ((call.flags & ~(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH)) != 0) return let_through();
  const auto from = places_.object(call.path, call.last, 0);
  if (!from) return unresolved(call, from.error());
  if (!*from) return let_through();
  if ((*from)->entry.name.empty()) return fail(call_error(ENOENT).error());
  const auto to = TRY(places_.entry(call.other, 0));
  if (!to) return let_through();
  // As in make().
  if (sys::look_at_name(to->at(), to->name)) return fail(call_error(EEXIST).error());
  // A second name would be a way round the rule about the first.
  TRY(judge(call, (*from)->entry.path));
  TRY(judge_rules(call, to->path));
  // Under another name the sandbox could write a judged file, or a lock of git outside, without a judgement.
  TRY(judge_link(call, (*from)->entry));
  TRY(judge_lock(call, (*from)->entry, (*from)->what));
  if (is_config_lock(*to)) return fail(refuse_git(call, to->path).error());
  const MadeName was = TRY(judge_git(call, (*from)->entry, MadeOf::kMoved, Places::Outlook::kNow));
  TRY(judge_link(call, *to));
  const MadeName made = TRY(judge_git(call, *to, MadeOf::kMoved));
  // link(2) gives a symbolic link a second name too.
  TRY(judge_move(call, (*from)->entry, *to));
  TRY(sys::link_at((*from)->entry.at(), (*from)->entry.name, to->at(), to->name));
  // The old name may be the configuration of a repository by now, and the new one would let the sandbox write it.
  const bool still = judge_made_git_name((*from)->entry, was) || plan::is_lifted_path(names_, (*from)->entry.path);
  Status kept = still ? judge_made(call, *to, made) : refuse_git(call, (*from)->entry.path);
  if (!kept) take_back(*to);
  return done(std::move(kept));
}

Result<CallAnswer> AccessCalls::change(const AccessCall& call) const {
  const auto object = object_of(call);
  const bool gives = call.kind == AccessKind::kMode && (call.mode & kGiveRights) != 0;
  if (gives && (!object || !*object)) return change_own(call);
  if (!object) return unresolved(call, object.error());
  if (call.kind == AccessKind::kOwner && !has_ids(call.uid, call.gid)) return fail(call_error(EPERM).error());
  if (!*object) return let_through();
  if (call.descriptor && !call.is_path_enough) TRY(places_.check_is_open(call.path.caller, *call.descriptor));
  // git-init(1) tries on it whether modes can be changed here; nobody runs it. Programs that copy a repository set the
  // times of the new one.
  if (call.kind == AccessKind::kTruncate) {
    TRY(judge_link(call, (*object)->entry));
    TRY(judge_linked(call, (*object)->entry, (*object)->what));
  }
  TRY(judge_lock(call, (*object)->entry, (*object)->what));
  const auto rule = plan::denied_name(names_, (*object)->entry.path);
  const bool is_kept = rule && plan::is_kept_config(*rule);
  const bool sets_mode = call.kind == AccessKind::kMode && !is_kept && is_git_config((*object)->entry.path);
  const bool sets_times = call.kind == AccessKind::kTimes && is_own_git_config((*object)->entry);
  const bool harmless = sets_mode || sets_times;
  if (harmless && !asked_.still_waits(call)) return fail(call_error(EINTR).error());
  if (!harmless) TRY(judge(call, (*object)->entry.path));
  const auto held = plan::held_directory(names_, (*object)->entry.path);
  if (held) return fail(refuse(call, (*object)->entry.path, *held).error());
  return done(apply_change(call, **object));
}

// The supervisor settles such a call itself, whatever file it is about. If the kernel made the call, another thread
// could meanwhile put a descriptor of the writable copy in the place of this one.
Result<CallAnswer> AccessCalls::change_own(const AccessCall& call) const {
  if (call.descriptor && !call.is_path_enough) TRY(places_.check_is_open(call.path.caller, *call.descriptor));
  const UniqueFd seen =
      TRY(call.descriptor ? places_.seen(call.path.caller, *call.descriptor) : places_.seen(call.path, call.last));
  const sys::Resolved what = TRY(sys::look_at(seen.get()));
  if (gives_rights(what.mode, call.mode)) return fail(call_error(EPERM).error());
  if (!TRY(places_.is_of_sandbox(seen))) return fail(call_error(EPERM).error());
  if (!asked_.still_waits(call)) return fail(call_error(EINTR).error());
  return done(sys::set_mode_of(seen.get(), call.mode & 07777));
}

Status AccessCalls::apply_change(const AccessCall& call, const Object& object) const {
  const int handle = object.handle.get();
  switch (call.kind) {
    case AccessKind::kMode:
      if (gives_rights(object.what.mode, call.mode)) return call_error(EPERM);
      return sys::set_mode_of(handle, call.mode & 07777);
    case AccessKind::kOwner: return sys::set_owner_of(handle, call.uid, call.gid);
    case AccessKind::kTimes: return sys::set_times_of(handle, call.times);
    case AccessKind::kSetAttribute: return sys::set_attribute_of(handle, call.text, call.value, call.flags);
    case AccessKind::kRemoveAttribute: return sys::remove_attribute_of(handle, call.text);
    default: break;
  }
  if (!S_ISREG(object.what.mode)) return call_error(S_ISDIR(object.what.mode) ? EISDIR : EINVAL);
  const auto file = open_object(object, O_WRONLY);
  if (!file) return is_another_by_now(file.error()) ? call_error(EBUSY) : fail(file.error());
  return sys::truncate_file(file->file.get(), call.size);
}

// Programs ask before they write; nobody is told of an answer.
Result<CallAnswer> AccessCalls::ask_access(const AccessCall& call) const {
  const auto object = object_of(call);
  if (!object) return unresolved(call, object.error());
  if (!*object) return let_through();
  if (!asked_.still_waits(call)) return fail(call_error(EINTR).error());
  if (plan::denied_name(names_, (*object)->entry.path)) return fail(call_error(EACCES).error());
  return done(sys::check_access_of((*object)->handle.get(), static_cast<int>(call.mode), call.flags));
}

Result<std::optional<Object>> AccessCalls::object_of(const AccessCall& call) const {
  if (call.descriptor) return places_.object(call.path.caller, *call.descriptor);
  if (auto plain = places_.plain_object(call.path)) return plain;
  return places_.object(call.path, call.last, 0);
}

Result<CallAnswer> AccessCalls::unresolved(const AccessCall& call, const Error& error) const {
  if (call.descriptor || call.resolve != 0 || !places_.is_final(call.path, error)) return let_through();
  return fail(error);
}

Status AccessCalls::take_umask(const AccessCall& call) const { return umasks_.take(places_.proc(), call.path.caller); }

}  // namespace hutch::guest
