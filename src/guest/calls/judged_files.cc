// Gives a caller a pipe in place of a file that is judged by its content.
#include "guest/calls/judged_files.h"

#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "guest/git/wall.h"
#include "plan/paths/names.h"
#include "sys/io.h"

namespace hutch::guest {

Result<UniqueFd> JudgedFiles::open(Wanted wanted) {
  if (pending_.size() == kOpenMax) return fail(Error::from_errno("the call", EMFILE));
  sys::Pipe pipe = TRY(sys::pipe());
  TRY(sys::set_nonblocking(pipe.read.get()));
  pending_.push_back({std::move(wanted), std::move(pipe.read), {}});
  return std::move(pipe.write);
}

void JudgedFiles::add_to(std::vector<pollfd>& wait) const {
  for (const Pending& pending : pending_) wait.push_back({pending.read.get(), POLLIN, 0});
}

void JudgedFiles::land(Places& places, Turns& turns, const MayLand& may_land, const Refused& refused) {
  std::vector<Pending> waiting;
  for (Pending& pending : std::exchange(pending_, {})) {
    const Read read = take(pending);
    if (read == Read::kMore) {
      waiting.push_back(std::move(pending));
      continue;
    }
    const Wanted& wanted = pending.wanted;
    const TurnScope scope(turns);
    const Status turn = turns.take();
    if (!turn) refused(wanted.caller, wanted.entry.path, turn_rule());
    const bool made =
        turn && read == Read::kAll && may_land(wanted.entry, wanted.kind) && judge_and_make(places, pending);
    if (turn && !made) refused(wanted.caller, wanted.entry.path, plan::git_rule());
  }
  pending_ = std::move(waiting);
}

Status JudgedFiles::judge_and_make(Places& places, const Pending& pending) {
  const Wanted& wanted = pending.wanted;
  const std::string path = TRY(places.path_of(wanted.entry));
  const auto outside = TRY(places.outside_of(wanted.entry, Places::Outlook::kNow));
  const auto is_harmless = [&](const std::string& at, const std::string& root) {
    const bool is_config = wanted.kind == plan::JudgedFile::kGitConfig;
    const bool is_named = is_config ? at.ends_with("/config") : plan::judged_file(at) == wanted.kind;
    return is_named && plan::is_harmless_text(wanted.kind, at, pending.text, root);
  };
  const bool harmless = path == wanted.entry.path && is_harmless(path, wanted.root) &&
                        (!outside || !outside->has_moved || is_harmless(outside->path, outside->root_path));
  return harmless ? make(pending) : fail(Error::from_errno("the call", EPERM));
}

JudgedFiles::Read JudgedFiles::take(Pending& pending) {
  std::array<char, 4096> part{};
  for (;;) {
    const auto count = sys::read_some(pending.read.get(), part);
    if (!count) return count.error().sys_errno == EAGAIN ? Read::kMore : Read::kTooMuch;
    if (*count == 0) return Read::kAll;
    if (pending.text.size() + *count > plan::kJudgedBytesMax) return Read::kTooMuch;
    pending.text.append(part.data(), *count);
  }
}

Status JudgedFiles::make(const Pending& pending) {
  const Entry& entry = pending.wanted.entry;
  const auto there = sys::look_at_name(entry.at(), entry.name);
  if (there && !S_ISREG(there->mode)) return fail(Error::from_errno("the call", EEXIST));
  using enum plan::JudgedFile;
  const bool leads_git = pending.wanted.kind == kGitLink || pending.wanted.kind == kCommonDirectory;
  const std::string text = leads_git ? plan::marked_git_link(pending.text) : pending.text;
  const bool only_new = pending.wanted.kind == plan::JudgedFile::kGitConfig && pending.wanted.is_new;
  const unsigned flags = only_new ? RENAME_NOREPLACE : 0;
  const auto put = [&] { return put_judged(entry.at(), entry.name, text, pending.wanted.mode, flags); };
  if (pending.wanted.kind != plan::JudgedFile::kCommonDirectory) return put();
  // commondir, like each other part, may make its directory a repository.
  const MadeName made{MadeOf::kContent, is_repository(entry)};
  TRY(judge_git_name(entry, made.what));
  TRY(put());
  // As in AccessCalls::judge_made().
  Status kept = judge_made_git_name(entry, made);
  if (!kept) take_back(entry);
  return kept;
}

}  // namespace hutch::guest
