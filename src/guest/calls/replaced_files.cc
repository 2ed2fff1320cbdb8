// Judges by its content what git puts into the place of a protected file.
#include "guest/calls/replaced_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/sha256.h"
#include "base/text.h"
#include "guest/calls/landed_file.h"
#include "sys/files/beneath.h"
#include "sys/files/delegate.h"
#include "sys/files/files.h"
#include "sys/io.h"

namespace hutch::guest {

namespace {

using Kind = ReplacedFiles::Wanted::Kind;

std::uint32_t git_mode(Kind kind) { return kind == Kind::kProgram ? plan::kGitProgramMode : plan::kGitPlainMode; }

std::uint32_t git_mode(mode_t mode) {
  if (S_ISLNK(mode)) return plan::kGitLinkMode;
  return (mode & S_IXUSR) != 0 ? plan::kGitProgramMode : plan::kGitPlainMode;
}

std::string content_key(std::uint32_t mode, std::string_view bytes) {
  Sha256 sum;
  sum.add(bytes);
  return cat({std::to_string(mode), " ", sum.finish()});
}

Status held_back() { return fail(Error::from_errno("the call", EPERM)); }

}  // namespace

// The writer has a description of its own: with this process's closed, a lease tells whether somebody can still write.
bool ReplacedFiles::is_taken(const Entry& entry) const {
  return sys::look_at_name(entry.at(), entry.name) && !is_left(entry.path);
}

Result<UniqueFd> ReplacedFiles::open(Wanted wanted) {
  if (is_taken(wanted.entry)) return fail(Error::from_errno("the call", EEXIST));
  if (pending_.size() >= kOpenMax) return fail(Error::from_errno("the call", EMFILE));
  if (!watch_) watch_.emplace(TRY(sys::ClosingWatch::make()));
  const UniqueFd made = TRY(sys::memory_file("replaced", {}));
  UniqueFd read = TRY(sys::open_again(made.get(), O_RDONLY));
  UniqueFd write = TRY(sys::open_again(made.get(), O_WRONLY));
  TRY(sys::clear_nonblocking(write.get()));
  TRY(watch_->add(read.get()));
  pending_.push_back({std::move(wanted), std::move(read)});
  return write;
}

void ReplacedFiles::add_to(std::vector<pollfd>& wait) const {
  if (watch_ && !pending_.empty()) wait.push_back({watch_->fd(), POLLIN, 0});
}

void ReplacedFiles::land(const Places& places, const Tell& tell) {
  if (pending_.empty()) return;
  watch_->clear();
  std::vector<Pending> waiting;
  for (Pending& pending : std::exchange(pending_, {})) {
    const auto written = sys::has_writer(pending.read.get());
    if (written && *written) {
      waiting.push_back(std::move(pending));
      continue;
    }
    const Wanted& wanted = pending.wanted;
    const Status landed = written ? land_one(places, pending, tell) : Status(fail(written.error()));
    if (!landed) tell(Event::kHeldBack, wanted.caller, wanted.entry.path, wanted.rule);
    // What was held back has been told of, and the earlier file with it.
    left_.erase(wanted.entry.path);
  }
  pending_ = std::move(waiting);
}

void ReplacedFiles::settle(const Places& places, const Tell& tell) {
  land(places, tell);
  contents_.begin_command();
  for (const auto& [path, left] : left_) tell(Event::kKept, left.caller, path, left.rule);
}

Status ReplacedFiles::land_one(const Places& places, const Pending& pending, const Tell& tell) {
  const Wanted& wanted = pending.wanted;
  Content content{git_mode(wanted.kind), TRY(sys::read_at(pending.read.get(), 0, kContentBytesMax + 1))};
  if (content.bytes.size() > kContentBytesMax) return held_back();
  const ContentFound found = judge(places, wanted.entry, content);
  if (found == ContentFound::kNo) return held_back();
  const sys::FileStatus status = TRY(sys::file_status(pending.read.get(), ""));
  const auto make = [&] {
    // As git makes it for its user. It has noted the times of what it wrote.
    const mode_t mode = (wanted.kind == Kind::kProgram ? 0777 : 0666) & ~umask_;
    return land_file(wanted.entry.at(), wanted.entry.name, {content.bytes, mode, status.modified_ns});
  };
  return put(places, wanted, {found, content_key(content.mode, content.bytes)}, make, tell);
}

Status ReplacedFiles::link(const Places& places, const Wanted& wanted, const Link& link, const Tell& tell) {
  const Entry& entry = wanted.entry;
  if (is_taken(entry)) return fail(Error::from_errno("the call", EEXIST));
  const ContentFound found = judge(places, entry, {plan::kGitLinkMode, link.target});
  Status made = held_back();
  if (found != ContentFound::kNo) {
    const auto make = [&] {
      if (!link.protects.empty()) tell(Event::kLinked, wanted.caller, link.protects, wanted.rule);
      return land_link(entry.at(), entry.name, link.target);
    };
    made = put(places, wanted, {found, content_key(plan::kGitLinkMode, link.target)}, make, tell);
  }
  if (!made) tell(Event::kHeldBack, wanted.caller, entry.path, wanted.rule);
  left_.erase(entry.path);
  return {};
}

ReplacedFiles::Removal ReplacedFiles::remove(const Places& places, const Wanted& wanted, const Tell& tell) {
  const Entry& entry = wanted.entry;
  if (!sys::look_at_name(entry.at(), entry.name)) return Removal::kMayGo;  // the kernel says so
  const auto landed = landed_.find(entry.path);
  if (landed != landed_.end() && landed->second.before == Landed::Before::kNothing && is_as_landed(entry)) {
    landed_.erase(landed);
    return Removal::kMayGo;
  }
  const auto at = contents_.at_references(places, entry);
  if (!at.is_somewhere) return Removal::kRefused;
  const auto content = content_of(entry);
  if (content) learn(entry, *content);
  if (!at.is_missing) {
    left_.insert_or_assign(entry.path, Left{wanted.caller, wanted.rule});
    return Removal::kStays;
  }
  if (!is_lost(places, entry)) return Removal::kMayGo;
  if (!set_aside(wanted, tell)) return Removal::kRefused;
  tell(Event::kShown, wanted.caller, entry.path, wanted.rule);
  return Removal::kMayGo;
}

std::optional<ReplacedFiles::Content> ReplacedFiles::content_of(const Entry& entry) {
  const auto there = sys::look_at_name(entry.at(), entry.name);
  if (there && S_ISLNK(there->mode)) {
    auto target = sys::link_text(entry.at(), entry.name);
    return target ? std::optional(Content{plan::kGitLinkMode, std::move(*target)}) : std::nullopt;
  }
  if (!there || !S_ISREG(there->mode)) return std::nullopt;
  const auto file = sys::open_at(entry.at(), entry.name, O_RDONLY, 0);
  auto bytes = file ? sys::read_at(file->get(), 0, kContentBytesMax + 1) : Result<std::string>(std::string());
  if (!file || !bytes || bytes->size() > kContentBytesMax) return std::nullopt;
  return Content{git_mode(there->mode), std::move(*bytes)};
}

// Whether the file has a content that the user could not get back from a reference.
bool ReplacedFiles::is_lost(const Places& places, const Entry& entry) {
  if (is_as_landed(entry)) return false;
  const auto content = content_of(entry);
  return !content || !contents_.is_at_reference(places, entry, content->mode, content->bytes);
}

// The very file, with the very content: the user may have written another one meanwhile.
bool ReplacedFiles::is_as_landed(const Entry& entry) const {
  const auto landed = landed_.find(entry.path);
  const auto there = sys::look_at_name(entry.at(), entry.name);
  if (landed == landed_.end() || !there || !there->is_same(landed->second.what)) return false;
  const auto content = content_of(entry);
  return content && content_key(content->mode, content->bytes) == landed->second.key;
}

// What is about to be replaced, or removed. An error: it cannot be kept, so that it has to stay.
Status ReplacedFiles::set_aside(const Wanted& wanted, const Tell& tell) {
  const auto content = content_of(wanted.entry);
  if (!content) return held_back();
  plan::NameRule about = wanted.rule;
  about.rule = TRY(kept_.keep(wanted.entry.name, content->bytes));
  tell(Event::kSetAside, wanted.caller, wanted.entry.path, about);
  return {};
}

void ReplacedFiles::learn(const Entry& entry, const Content& content) {
  if (learned_.size() < kLearnedMax) learned_.emplace(entry.path, content_key(content.mode, content.bytes));
}

ReplacedFiles::ContentFound ReplacedFiles::judge(const Places& places, const Entry& entry, const Content& content) {
  const auto path = places.path_of(entry);
  // The rule, and the content, were about another path.
  if (!path || *path != entry.path) return ContentFound::kNo;
  if (learned_.contains({entry.path, content_key(content.mode, content.bytes)})) return ContentFound::kAtReference;
  return contents_.find(places, entry, content.mode, content.bytes);
}

// Another sandbox may move the directory meanwhile; what has landed elsewhere goes.
Status ReplacedFiles::put(const Places& places, const Wanted& wanted, const Judged& judged,
                          const std::function<Result<sys::Resolved>()>& make, const Tell& tell) {
  const Entry& entry = wanted.entry;
  const auto there = sys::look_at_name(entry.at(), entry.name);
  if (there && (!is_left(entry.path) || (!S_ISREG(there->mode) && !S_ISLNK(there->mode)))) return held_back();
  const bool loses = there && is_lost(places, entry);
  if (loses) TRY(set_aside(wanted, tell));
  if (loses || judged.found == ContentFound::kOlder) tell(Event::kShown, wanted.caller, entry.path, wanted.rule);
  const sys::Resolved made = TRY(make());
  const auto path = places.path_of(entry);
  if (path && *path == entry.path) {
    if (landed_.size() >= kLearnedMax) landed_.clear();
    const auto before = there ? Landed::Before::kFile : Landed::Before::kNothing;
    landed_.insert_or_assign(entry.path, Landed{made, judged.key, before});
    tell(Event::kLanded, wanted.caller, entry.path, wanted.rule);
    return {};
  }
  (void)sys::unlink_with(entry.at(), entry.name, 0);
  return held_back();
}

}  // namespace hutch::guest
