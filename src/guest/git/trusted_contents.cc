// Finds the repository of a file, and asks its commits.
#include "guest/git/trusted_contents.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "plan/git/config_text.h"
#include "plan/git/known_commits.h"
#include "sys/files/beneath.h"
#include "sys/files/birth.h"
#include "sys/files/delegate.h"
#include "sys/io.h"

namespace hutch::guest {

namespace {

constexpr std::chrono::seconds kContentTime{5};
constexpr std::size_t kLinkBytesMax = 4096;
constexpr std::size_t kRepositoriesMax = 16;

std::string above(const std::string& path) { return path.substr(0, std::max<std::size_t>(path.rfind('/'), 1)); }

std::optional<std::string> first_line(int directory, const std::string& name) {
  const auto there = sys::look_at_name(directory, name);
  if (!there || !S_ISREG(there->mode)) return std::nullopt;
  const auto file = sys::open_at(directory, name, O_RDONLY, 0);
  const auto what = file ? sys::look_at(file->get()) : Result<sys::Resolved>(sys::Resolved());
  if (!file || !what || !S_ISREG(what->mode)) return std::nullopt;
  auto text = sys::read_at(file->get(), 0, kLinkBytesMax);
  if (!text) return std::nullopt;
  return text->substr(0, text->find('\n'));
}

// core.worktree of git-config(1), relative to the directory of the repository.
std::optional<std::string> configured_work_tree(int repository) {
  static constexpr std::size_t kConfigBytesMax = 64 << 10;
  const auto there = sys::look_at_name(repository, "config");
  if (!there || !S_ISREG(there->mode)) return std::nullopt;
  const auto file = sys::open_at(repository, "config", O_RDONLY, 0);
  const auto text = file ? sys::read_at(file->get(), 0, kConfigBytesMax) : Result<std::string>(std::string());
  const auto settings = text ? plan::read_git_config(*text) : std::nullopt;
  std::optional<std::string> found;
  for (const plan::GitConfigEntry& one : settings.value_or(std::vector<plan::GitConfigEntry>())) {
    if (one.section == "core" && one.subsection.empty() && one.key == "worktree") found = one.value;
  }
  return found;
}

// The directory of the repository that the ".git" in `directory` (at `path`) is or names. What it names must name that
// work tree: the sandbox may make such a file in any directory.
std::optional<std::string> repository_at(const Places& places, int directory, const std::string& path) {
  static constexpr std::string_view kLeadsTo = "gitdir: ";
  const auto there = sys::look_at_name(directory, ".git");
  if (there && S_ISDIR(there->mode)) return path_from(path, ".git");
  const auto link = first_line(directory, ".git");
  if (!link || !link->starts_with(kLeadsTo)) return std::nullopt;
  const std::string own = path_from(path, link->substr(kLeadsTo.size()));
  const auto opened = places.in_copy_at(own);
  if (!opened) return std::nullopt;
  // A submodule's has all in it.
  const auto common = first_line(opened->get(), "commondir");
  const auto named = common ? first_line(opened->get(), "gitdir") : configured_work_tree(opened->get());
  const std::string wanted = common ? path_from(path, ".git") : path;
  if (!named || path_from(own, *named) != wanted) return std::nullopt;
  return common ? path_from(own, *common) : own;
}

}  // namespace

std::string path_from(const std::string& base, std::string_view path) {
  std::string whole = path.starts_with('/') ? std::string() : base;
  for (const std::string_view part : split(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      whole.resize(whole.empty() ? 0 : whole.rfind('/'));
    } else {
      whole += cat({"/", part});
    }
  }
  return whole.empty() ? "/" : whole;
}

void TrustedContents::begin_command() {
  for (const auto& [file, repository] : repositories_) {
    repository->left = kCommandTime;
    repository->bytes_left = kCommandBytes;
    repository->starts_left = kCommandStarts;
  }
}

bool TrustedContents::is_in_work_tree(const Places& places, const Entry& entry) const {
  const std::string root = places.root_of(entry.path);
  for (std::string at = above(entry.path);; at = above(at)) {
    const auto directory = places.in_copy_at(at);
    if (directory && sys::look_at_name(directory->get(), ".git")) return true;
    if (at == "/" || at.size() <= root.size()) return false;
  }
}

// The innermost ".git" counts, as for git. The path of the entry is that of its rules: the directory must be there.
std::optional<TrustedContents::WorkTree> TrustedContents::work_tree_of(const Places& places, const Entry& entry) const {
  const std::string root = places.root_of(entry.path);
  const auto parent = places.in_copy_at(above(entry.path));
  const auto what = parent ? sys::look_at(parent->get()) : Result<sys::Resolved>(sys::Resolved());
  if (!commits_ || !parent || !what || !what->is_same(entry.directory->twin)) return std::nullopt;
  for (std::string at = above(entry.path);; at = above(at)) {
    const auto directory = places.in_copy_at(at);
    if (!directory) return std::nullopt;
    if (!sys::look_at_name(directory->get(), ".git")) {
      if (at == "/" || at.size() <= root.size()) return std::nullopt;
      continue;
    }
    const auto path = repository_at(places, directory->get(), at);
    auto repository = path ? places.in_copy_at(*path) : Result<UniqueFd>(fail(Error::not_found("a repository")));
    const auto itself = repository ? sys::look_at(repository->get()) : Result<sys::Resolved>(sys::Resolved());
    const auto birth = repository ? sys::birth_ns(repository->get(), ".") : Result<std::int64_t>(0);
    if (!repository || !itself || !birth || !S_ISDIR(itself->mode)) return std::nullopt;
    return WorkTree{std::move(*repository), plan::known_commits_file(itself->device, itself->inode, *birth),
                    entry.path.substr(at == "/" ? 1 : at.size() + 1)};
  }
}

template <class Ask>
auto TrustedContents::ask(const Places& places, const Entry& entry, Ask ask)
    -> decltype(ask(std::declval<plan::GitContents&>(), "")) {
  std::string path;
  Repository* repository = repository_of(places, entry, path);
  if (repository == nullptr) return {};
  const Clock::time_point began = Clock::now();
  repository->until = began + std::min<Clock::duration>(kContentTime, repository->left);
  const auto answer = ask(*repository->contents, path);
  repository->left -= std::min(repository->left, Clock::now() - began);
  return answer;
}

plan::GitContents::Found TrustedContents::find(const Places& places, const Entry& entry, std::uint32_t mode,
                                               std::string_view content) {
  return ask(places, entry,
             [&](plan::GitContents& contents, const std::string& path) { return contents.find(path, mode, content); });
}

bool TrustedContents::is_at_reference(const Places& places, const Entry& entry, std::uint32_t mode,
                                      std::string_view content) {
  return ask(places, entry, [&](plan::GitContents& contents, const std::string& path) {
    return contents.is_at_reference(path, mode, content);
  });
}

plan::GitContents::AtReferences TrustedContents::at_references(const Places& places, const Entry& entry) {
  return ask(places, entry,
             [&](plan::GitContents& contents, const std::string& path) { return contents.at_references(path); });
}

bool TrustedContents::start_reader(Repository& repository) {
  if (repository.starts_left == 0) return false;
  --repository.starts_left;
  auto objects = sys::duplicate(repository.objects.get());
  auto reader = objects ? GitReader::start(std::move(*objects)) : Result<GitReader>(fail(objects.error()));
  if (reader) repository.reader.emplace(std::move(*reader));
  return reader.has_value();
}

// The process may die of what it reads; another one then goes on.
std::optional<plan::GitObject> TrustedContents::read(Repository& repository, std::string_view name) {
  if (repository.bytes_left == 0) return std::nullopt;
  for (int tries = 0; tries < kCommandStarts && Clock::now() < repository.until; ++tries) {
    const bool is_there = repository.reader && repository.reader->answers();
    if (!is_there && !start_reader(repository)) return std::nullopt;
    auto answer = repository.reader->look_up(name, repository.until);
    if (!repository.reader->answers()) continue;
    if (answer.found != plan::GitObjectAnswer::Found::kYes) return std::nullopt;
    repository.bytes_left -= std::min<std::uint64_t>(repository.bytes_left, answer.object.bytes.size());
    return std::move(answer.object);
  }
  return std::nullopt;
}

// The list may have grown since: a command of the same sandbox has ended, and another begun.
TrustedContents::Repository* TrustedContents::repository_of(const Places& places, const Entry& entry,
                                                            std::string& path) {
  auto work_tree = work_tree_of(places, entry);
  if (!work_tree) return nullptr;
  path = std::move(work_tree->path);
  const auto file = sys::open_at(commits_.get(), work_tree->file, O_RDONLY, 0);
  auto text = file ? sys::read_at(file->get(), 0, plan::kKnownCommitsBytesMax + 1) : Result<std::string>(std::string());
  if (!file || !text) return nullptr;
  const auto known = repositories_.find(work_tree->file);
  if (known == repositories_.end() && repositories_.size() >= kRepositoriesMax) return nullptr;
  std::unique_ptr<Repository>& held = known != repositories_.end() ? known->second : repositories_[work_tree->file];
  if (!held) held = std::make_unique<Repository>();
  Repository& repository = *held;
  if (!repository.objects) {
    auto objects = sys::open_at(work_tree->repository.get(), "objects", O_PATH | O_DIRECTORY, 0);
    if (!objects) return nullptr;
    repository.objects = std::move(*objects);
  }
  if (!repository.contents || repository.list != *text) {
    const auto read_one = [&repository](std::string_view name) { return read(repository, name); };
    const auto has_time = [&repository] { return Clock::now() < repository.until; };
    repository.contents.emplace(plan::read_known_commits(*text), read_one,
                                plan::GitContents::Limits{.has_time = has_time});
    repository.list = std::move(*text);
  }
  return &repository;
}

}  // namespace hutch::guest
