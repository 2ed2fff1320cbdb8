// The calls that the access supervisor makes for others.
#include "guest/access_calls.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/text.h"
#include "plan/git_config.h"
#include "plan/names.h"
#include "sys/beneath.h"
#include "sys/io.h"
#include "sys/process.h"

namespace hutch::guest {

namespace {

constexpr int kTries = 16;
constexpr int kLinksMax = 40;  // as the kernel follows (path_resolution(7))
constexpr unsigned kNew = 1;       // RENAME_NOREPLACE of renameat2(2)
constexpr unsigned kExchange = 2;  // RENAME_EXCHANGE
constexpr std::uint64_t kInodeMask = INT64_MAX;  // an answer below zero is an error

Result<CallAnswer> let_through() { return CallAnswer(LetThrough{}); }
Result<CallAnswer> done(Status made) {
  TRY(made);
  return CallAnswer(Done{});
}
Status number(int error) { return fail(Error::from_errno("the call", error)); }

// A program in the host's files that gives whoever runs it the rights of this user would act outside.
mode_t mode_for(mode_t kind, mode_t wanted) {
  static constexpr mode_t kGiveRights = S_ISUID | S_ISGID;
  return S_ISREG(kind) ? wanted & ~kGiveRights : wanted;
}

bool has(int flags, int wanted) { return (flags & wanted) == wanted; }

// What a caller's flags leave for open_at(), which adds its own.
int plain_flags(int flags) { return flags & ~(O_CREAT | O_EXCL | O_TRUNC | O_CLOEXEC | O_NONBLOCK); }

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Another file has the name, or none.
bool is_another_by_now(const Error& error) { return error.sys_errno == ESTALE || error.sys_errno == ENOENT; }

sys::OnExec on_exec_of(const AccessCall& call) {
  return has(call.flags, O_CLOEXEC) ? sys::OnExec::kClose : sys::OnExec::kKeep;
}

// A file that gets its name later; under one that nobody has.
Result<UniqueFd> make_own(int directory, mode_t mode, std::string& name) {
  static std::uint64_t count = 0;
  for (int tries = 0;; ++tries) {
    name = cat({".hutch-", std::to_string(sys::own_pid()), ".", std::to_string(++count)});
    auto made = sys::make_at(directory, name, O_WRONLY, mode);
    if (made || made.error().sys_errno != EEXIST || tries == kTries) return made;
  }
}

// What had the name gets the other one; with something else than a regular file all stays as it was.
Status exchange(int directory, const std::string& name, const std::string& with) {
  TRY(sys::rename_with(directory, name, directory, with, kExchange));
  const auto old = sys::look_at_name(directory, name);
  if (!old || S_ISREG(old->mode)) return {};
  TRY(sys::rename_with(directory, name, directory, with, kExchange));
  return number(ESTALE);
}

Result<CallAnswer> hand_over(const AccessCall& call, UniqueFd file) {
  if (!has(call.flags, O_NONBLOCK)) TRY(sys::clear_nonblocking(file.get()));
  return CallAnswer(Opened{std::move(file), on_exec_of(call)});
}

}  // namespace

Result<CallAnswer> AccessCalls::answer(const AccessCall& call) const {
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
    case kBind: return fail(number(EOPNOTSUPP).error());  // AccessSockets makes them
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
  // Nobody makes a directory so; the kernel says what is wrong with it.
  if (has(call.flags, O_CREAT | O_DIRECTORY)) return let_through();
  const bool only_new = has(call.flags, O_CREAT | O_EXCL);
  const auto last = only_new || has(call.flags, O_NOFOLLOW) ? sys::LastLink::kKeep : sys::LastLink::kFollow;
  if (auto answer = TRY(open_plainly(call))) return std::move(*answer);
  for (int i = 0; i < kTries; ++i) {
    const auto found = places_.object(call.path, last, call.resolve);
    if (!found && found.error().sys_errno == ENOENT && has(call.flags, O_CREAT) && !has(call.flags, O_TMPFILE)) {
      return make_file(call);
    }
    if (!found) return unresolved(call, found.error());
    if (!*found) return let_through();
    const Object& object = **found;
    // Programs then make a file with a name, which can be looked at.
    if (has(call.flags, O_TMPFILE)) return fail(number(EOPNOTSUPP).error());
    if (only_new && call.path.text.ends_with('/')) return let_through();
    if (only_new) return fail(number(EEXIST).error());
    if (S_ISLNK(object.what.mode)) return fail(number(ELOOP).error());
    if (!S_ISREG(object.what.mode)) return let_through();
    auto opened = open_existing(call, object.entry, object.what);
    if (!opened && is_another_by_now(opened.error())) continue;
    return opened;
  }
  return fail(number(EBUSY).error());
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
  auto opened = open_existing(call, *place, *found);
  if (!opened && is_another_by_now(opened.error())) return std::optional<CallAnswer>();
  if (!opened) return fail(std::move(opened).error());
  return std::optional(std::move(*opened));
}

Result<std::optional<CallAnswer>> AccessCalls::make_plainly(const AccessCall& call, const Entry& entry) const {
  TRY(judge(call, entry.path));
  TRY(take_umask(call));
  const int flags = plain_flags(call.flags) | (call.flags & O_NONBLOCK);
  auto file = sys::make_at(entry.at(), entry.name, flags, mode_for(S_IFREG, call.mode));
  if (!file && file.error().sys_errno == EEXIST) return std::optional<CallAnswer>();
  if (!file) return fail(std::move(file).error());
  return CallAnswer(Opened{std::move(*file), on_exec_of(call)});
}

// Nothing is cut off before it is sure which file it is.
Result<CallAnswer> AccessCalls::open_existing(const AccessCall& call, const Entry& entry,
                                              const sys::Resolved& what) const {
  TRY(judge(call, entry.path));
  const auto open_same = [&](int flags) -> Result<UniqueFd> {
    UniqueFd file = TRY(sys::open_at(entry.at(), entry.name, flags, 0));
    if (!TRY(sys::look_at(file.get())).is_same(what)) return fail(number(ESTALE).error());
    return file;
  };
  UniqueFd file = TRY(open_same(plain_flags(call.flags)));
  if (has(call.flags, O_TRUNC) && (call.flags & O_ACCMODE) != O_RDONLY) {
    TRY(sys::truncate_file(file.get(), 0));
  } else if (has(call.flags, O_TRUNC)) {
    const UniqueFd writable = TRY(open_same(O_WRONLY));
    TRY(sys::truncate_file(writable.get(), 0));
  }
  return hand_over(call, std::move(file));
}

// A symbolic link to a name that is not there yet is followed, as the kernel does.
Result<CallAnswer> AccessCalls::make_file(const AccessCall& call) const {
  CallerPath path = call.path;
  const bool follows = !has(call.flags, O_EXCL) && !has(call.flags, O_NOFOLLOW) && call.resolve == 0;
  for (int i = 0; i < kLinksMax; ++i) {
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
    TRY(judge(call, entry->path));
    TRY(take_umask(call));
    const int flags = plain_flags(call.flags) | (call.flags & (O_EXCL | O_TRUNC)) | O_CREAT;
    auto file = sys::open_at(entry->at(), entry->name, flags, mode_for(S_IFREG, call.mode));
    if (!file && file.error().sys_errno == ELOOP && follows) continue;
    if (!file) return fail(std::move(file).error());
    if (!S_ISREG(TRY(sys::look_at(file->get())).mode)) return let_through();
    return hand_over(call, std::move(*file));
  }
  return fail(number(ELOOP).error());
}

Result<CallAnswer> AccessCalls::make(const AccessCall& call) const {
  const auto entry = TRY(places_.entry(call.path, 0));
  if (!entry) return let_through();
  TRY(judge(call, entry->path));
  const int directory = entry->at();
  if (call.kind == AccessKind::kMakeSymlink) {
    TRY(judge_name(call, entry->path));
    return done(sys::make_symlink_at(call.text, directory, entry->name));
  }
  TRY(take_umask(call));
  if (call.kind == AccessKind::kMakeDirectory) return done(sys::make_directory_at(directory, entry->name, call.mode));
  const mode_t kind = (call.mode & S_IFMT) != 0 ? call.mode : S_IFREG;
  return done(sys::make_node_at(directory, entry->name, mode_for(kind, call.mode), call.device));
}

Result<CallAnswer> AccessCalls::remove(const AccessCall& call) const {
  const auto entry = TRY(places_.entry(call.path, 0));
  if (!entry) return let_through();
  TRY(judge(call, entry->path));
  return done(sys::unlink_with(entry->at(), entry->name, call.flags));
}

// Into, out of or between other mounts the kernel refuses: EXDEV.
Result<CallAnswer> AccessCalls::rename(const AccessCall& call) const {
  const auto found = TRY(places_.entries(call.path, call.other));
  if (!found) return let_through();
  const auto& [from, to] = *found;
  TRY(judge(call, from.path));
  if (is_new_git_config(from, to)) return done(replace_git_config(call, from, to));
  TRY(judge_rules(call, to.path));
  TRY(judge_move(call, from, to));
  const auto flags = static_cast<unsigned>(call.flags);
  if ((flags & kExchange) != 0) TRY(judge_move(call, to, from));
  return done(sys::rename_with(from.at(), from.name, to.at(), to.name, flags));
}

// Whoever asks for it may make each of its calls as well: one file that is made, and gets the name of another.
Result<CallAnswer> AccessCalls::put_content(const AccessCall& call) const {
  const auto to = TRY(places_.entry(call.path, 0));
  if (!to || to->name.ends_with('/')) return let_through();
  TRY(judge(call, to->path));
  const auto there = sys::look_at_name(to->at(), to->name);
  if (there && !S_ISREG(there->mode)) return fail(number(ESTALE).error());
  umasks_.take_none();
  std::string own;
  const UniqueFd file = TRY(make_own(to->at(), call.mode, own));
  const auto what = sys::look_at(file.get());
  Status put = what ? sys::write_all(file.get(), call.text) : Status(fail(what.error()));
  if (put) put = there ? exchange(to->at(), own, to->name) : sys::rename_with(to->at(), own, to->at(), to->name, kNew);
  // The old file by now, or the new one that came to nothing.
  if (there || !put) (void)sys::unlink_with(to->at(), own, 0);
  TRY(put);
  return CallAnswer(Done{static_cast<std::int64_t>(what->inode & kInodeMask)});
}

// git writes its configuration as config.lock, which then gets the name (gitrepository-layout(5)).
bool AccessCalls::is_new_git_config(const Entry& from, const Entry& to) const {
  return is_git_config(to.path) && from.path == to.path + ".lock";
}

bool AccessCalls::is_git_config(const std::string& path) const {
  const plan::NameRule* rule = plan::denied_name(names_, path);
  const bool built_in =
      rule != nullptr && (rule->pattern == "/**/.git/config" || rule->pattern == "/**/.git/modules/**/config");
  return built_in && base_name(path) == "config";
}

// One that names nothing to run is let in, as a file that nobody else has open. Another sandbox of the same directory
// may wait for it to do so: it is written under a name that none may write, and git reads nothing under it there.
Status AccessCalls::replace_git_config(const AccessCall& call, const Entry& from, const Entry& to) const {
  static const std::string kOwnName = ".gitconfig";
  const int directory = from.at();
  const UniqueFd written = TRY(sys::open_at(directory, from.name, O_RDONLY, 0));
  const sys::Resolved what = TRY(sys::look_at(written.get()));
  if (!S_ISREG(what.mode)) return number(EPERM);
  const std::string text = TRY(sys::read_at(written.get(), 0, plan::kGitConfigBytesMax + 1));
  if (!plan::is_harmless_git_config(text)) return refuse(call, to.path, *plan::denied_name(names_, to.path));
  // A supervisor that was killed may have left one.
  (void)sys::unlink_with(directory, kOwnName, 0);
  umasks_.take_none();
  const UniqueFd own = TRY(sys::open_at(directory, kOwnName, O_WRONLY | O_CREAT | O_EXCL, what.mode & 0777));
  const auto flags = static_cast<unsigned>(call.flags);
  Status moved = sys::write_all(own.get(), text);
  if (moved) moved = sys::rename_with(directory, kOwnName, to.at(), to.name, flags);
  if (moved && (flags & kExchange) == 0) return sys::unlink_with(directory, from.name, 0);
  if (moved) return sys::rename_with(directory, kOwnName, directory, from.name, 0);
  (void)sys::unlink_with(directory, kOwnName, 0);
  return moved;
}

Result<CallAnswer> AccessCalls::link(const AccessCall& call) const {
  if ((call.flags & ~(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH)) != 0) return let_through();
  const auto from = places_.object(call.path, call.last, 0);
  if (!from) return unresolved(call, from.error());
  if (!*from) return let_through();
  const auto to = TRY(places_.entry(call.other, 0));
  if (!to) return let_through();
  // A second name would be a way round the rule about the first.
  TRY(judge(call, (*from)->entry.path));
  TRY(judge_rules(call, to->path));
  return done(sys::link_at((*from)->entry.at(), (*from)->entry.name, to->at(), to->name));
}

Result<CallAnswer> AccessCalls::change(const AccessCall& call) const {
  const auto object = object_of(call);
  if (!object) return unresolved(call, object.error());
  if (!*object) return let_through();
  if (call.descriptor && !call.is_path_enough) TRY(places_.check_is_open(call.path.caller, *call.descriptor));
  // git-init(1) tries on it whether modes can be changed here; nobody runs it.
  const bool harmless = call.kind == AccessKind::kMode && is_git_config((*object)->entry.path);
  if (harmless && !asked_.still_waits(call)) return fail(number(EINTR).error());
  if (!harmless) TRY(judge(call, (*object)->entry.path));
  return done(apply_change(call, **object));
}

Status AccessCalls::apply_change(const AccessCall& call, const Object& object) const {
  const int handle = object.handle.get();
  switch (call.kind) {
    case AccessKind::kMode: return sys::set_mode_of(handle, mode_for(object.what.mode, call.mode & 07777));
    case AccessKind::kOwner: return sys::set_owner_of(handle, call.uid, call.gid);
    case AccessKind::kTimes: return sys::set_times_of(handle, call.times);
    case AccessKind::kSetAttribute: return sys::set_attribute_of(handle, call.text, call.value, call.flags);
    case AccessKind::kRemoveAttribute: return sys::remove_attribute_of(handle, call.text);
    default: break;
  }
  if (!S_ISREG(object.what.mode)) return number(S_ISDIR(object.what.mode) ? EISDIR : EINVAL);
  const UniqueFd file = TRY(sys::open_at(object.entry.at(), object.entry.name, O_WRONLY, 0));
  if (!TRY(sys::look_at(file.get())).is_same(object.what)) return number(EBUSY);
  return sys::truncate_file(file.get(), call.size);
}

// Programs ask before they write; nobody is told of an answer.
Result<CallAnswer> AccessCalls::ask_access(const AccessCall& call) const {
  const auto object = object_of(call);
  if (!object) return unresolved(call, object.error());
  if (!*object) return let_through();
  if (!asked_.still_waits(call)) return fail(number(EINTR).error());
  if (plan::denied_name(names_, (*object)->entry.path) != nullptr) return fail(number(EACCES).error());
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

Status AccessCalls::judge(const AccessCall& call, const std::string& path) const {
  if (!asked_.still_waits(call)) return number(EINTR);
  return judge_rules(call, path);
}

Status AccessCalls::judge_rules(const AccessCall& call, const std::string& path) const {
  const plan::NameRule* rule = plan::denied_name(names_, path);
  return rule != nullptr ? refuse(call, path, *rule) : Status();
}

Status AccessCalls::judge_name(const AccessCall& call, const std::string& path) const {
  const plan::NameRule* rule = plan::leads_to_name(names_, path);
  return rule != nullptr ? refuse(call, path, *rule) : Status();
}

// What is not there moves nothing; the kernel says so.
Status AccessCalls::judge_move(const AccessCall& call, const Entry& from, const Entry& to) const {
  const auto moved = sys::look_at_name(from.at(), from.name);
  if (!moved) return {};
  const mode_t mode = moved->mode;
  const auto what = S_ISDIR(mode) || S_ISLNK(mode) ? plan::Moved::kDirectoryOrLink : plan::Moved::kFile;
  if (S_ISDIR(mode)) {
    const plan::NameRule* held = plan::holds_name(names_, from.path);
    if (held != nullptr) return refuse(call, from.path, *held);
  }
  const plan::NameRule* rule = plan::moves_to_name(names_, from.path, to.path, what);
  return rule != nullptr ? refuse(call, to.path, *rule) : Status();
}

Status AccessCalls::refuse(const AccessCall& call, const std::string& path, const plan::NameRule& rule) const {
  asked_.refused(call, path, rule);
  return number(EPERM);
}

Status AccessCalls::take_umask(const AccessCall& call) const { return umasks_.take(places_.proc(), call.path.caller); }

}  // namespace hutch::guest
