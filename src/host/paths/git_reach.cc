// Follows git's configuration through its files.
#include "host/paths/git_reach.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "host/machine/account.h"
#include "host/paths/expand.h"
#include "host/paths/looker.h"
#include "host/paths/paths.h"
#include "host/reach.h"
#include "policy/git/obeyed.h"
#include "policy/glob.h"
#include "sys/files/tree.h"

namespace hutch::host {

namespace {

constexpr std::string_view kGitDirectoryKey = "gitdir: ";
constexpr std::size_t kGitFilesMax = 8192;
constexpr std::size_t kGitFileBytesMax = 1 << 20;
constexpr int kIncludeDepthMax = 10;  // git's own limit
constexpr std::string_view kEnvironment = "the environment";

struct GitSource {
  policy::GitEntry entry;
  std::string file;
};

struct GitRepository {
  std::vector<std::string> configs;
  std::string work_tree;
};

std::string directory_above(std::string_view path);
std::string trimmed_line(std::string_view text);

class GitReach {
 public:
  explicit GitReach(const GitSearch& search) : search_(search) {}
  Result<ObeyedByGit> run();

 private:
  Status read(const std::string& file, int depth, std::vector<GitSource>& into);
  Status take(std::vector<policy::GitEntry> entries, const std::string& file, int depth, std::vector<GitSource>& into);
  Result<std::optional<std::string>> text_of(const std::string& file);
  Result<std::optional<GitRepository>> repository_at(std::string path);
  Result<std::vector<std::string>> all_repositories();
  std::string remedy() const;
  Result<CanonicalPath> canonical(const std::string& path);
  std::vector<std::string> absolute(std::string_view path, std::string_view base) const;
  Status add(const GitSource& source, const std::string& work_tree);
  Status add_matches(const std::string& path, const std::string& where, const std::string& work_tree);
  std::vector<std::string> in_path(std::string_view program, const std::string& base) const;

  const GitSearch& search_;
  Looker looker_;  // most paths begin with the same directories
  std::size_t files_ = 0;
  std::set<std::string> followed_;  // files of the configuration that is being read
  std::map<std::string, ObeyedPath> found_;
  std::map<std::string, ObeyedPath> elsewhere_;
  std::map<std::string, ObeyedPath> patterns_;
};

Result<ObeyedByGit> GitReach::run() {
  std::vector<GitSource> of_user;
  TRY(take(policy::git_entries_of(search_.environment), cat({search_.cwd, "/", kEnvironment}), 0, of_user));
  for (const std::string& file : {std::string("/etc/gitconfig"), cat({search_.home, "/.config/git/config"}),
                                  cat({search_.home, "/.gitconfig"})}) {
    followed_.clear();
    TRY(read(file, 0, of_user));
    elsewhere_.try_emplace(file, ObeyedPath{file, "your configuration"});
  }
  for (const std::string& path : TRY(all_repositories())) {
    auto repository = TRY(repository_at(path));
    if (!repository) continue;
    std::vector<GitSource> sources = of_user;
    followed_.clear();
    for (const std::string& file : repository->configs) TRY(read(file, 0, sources));
    const std::string common = directory_above(repository->configs.front());
    std::vector<std::string> parts = repository->configs;
    parts.push_back(cat({common, "/hooks"}));
    for (const std::string& part : parts) {
      elsewhere_.try_emplace(part, ObeyedPath{part, cat({"it is a part of ", printable(common)})});
    }
    for (const GitSource& source : sources) {
      const bool moves = source.entry.section == "core" && source.entry.key == "worktree";
      if (!moves) continue;
      const std::vector<std::string> moved = absolute(source.entry.value, path);
      if (!moved.empty()) repository->work_tree = TRY(canonical(moved.front())).path;
    }
    for (const GitSource& source : sources) TRY(add(source, repository->work_tree));
  }
  // A directory can become a repository later.
  for (const std::string& root : search_.roots) {
    for (const GitSource& source : of_user) TRY(add(source, root));
  }
  ObeyedByGit by_git;
  for (auto& [path, obeyed] : found_) by_git.paths.push_back(std::move(obeyed));
  for (auto& [path, obeyed] : elsewhere_) by_git.elsewhere.push_back(std::move(obeyed));
  for (auto& [pattern, obeyed] : patterns_) by_git.patterns.push_back(std::move(obeyed));
  return by_git;
}

// The repositories that were found, and those that contain the roots.
Result<std::vector<std::string>> GitReach::all_repositories() {
  std::set<std::string> all(search_.repositories.begin(), search_.repositories.end());
  for (std::string at : search_.roots) {
    for (;; at = directory_above(at)) {
      const std::string git = at == "/" ? "/.git" : cat({at, "/.git"});
      const auto there = sys::status_of(git);
      // If this user may not look there, as in the home of an agent's OS user, their git finds nothing either.
      if (!there && !is_out_of_reach(there.error())) return fail(there.error());
      if (there && *there) all.insert(git);
      if (at == "/") break;
    }
  }
  return std::vector<std::string>(all.begin(), all.end());
}

Result<std::optional<GitRepository>> GitReach::repository_at(std::string path) {
  GitRepository repository;
  if (path.ends_with("/.git")) repository.work_tree = directory_above(path);
  if (const auto link = TRY(text_of(path))) {
    if (!link->starts_with(kGitDirectoryKey)) return std::optional<GitRepository>();
    const std::string target = trimmed_line(std::string_view(*link).substr(kGitDirectoryKey.size()));
    const auto absolute = policy::obeyed_path(target, search_.home, repository.work_tree);
    if (!absolute) return std::optional<GitRepository>();
    path = *absolute;
  }
  const auto linked = canonical(path);
  if (linked && linked->type == plan::FileType::kDirectory) path = linked->path;
  std::string common = path;
  if (const auto text = TRY(text_of(cat({path, "/commondir"})))) {
    common = policy::obeyed_path(trimmed_line(*text), search_.home, path).value_or(path);
  }
  if (repository.work_tree.empty()) repository.work_tree = path;
  repository.configs = {cat({common, "/config"}), cat({common, "/config.worktree"})};
  if (common != path) repository.configs.push_back(cat({path, "/config.worktree"}));
  return std::optional(std::move(repository));
}

Status GitReach::read(const std::string& file, int depth, std::vector<GitSource>& into) {
  if (!followed_.insert(file).second) return {};
  const auto text = TRY(text_of(file));
  if (!text) return {};
  return take(policy::git_entries(*text), file, depth, into);
}

// Conditions of includeIf count as met: they may be met in another directory or on another branch.
Status GitReach::take(std::vector<policy::GitEntry> entries, const std::string& file, int depth,
                      std::vector<GitSource>& into) {
  for (policy::GitEntry& entry : entries) {
    GitSource source{std::move(entry), file};
    for (const policy::ObeyedName& name : policy::obeyed_names(source.entry)) {
      if (name.kind != policy::GitRead::kConfig) continue;
      if (depth >= kIncludeDepthMax) continue;
      for (const std::string& path : absolute(name.path, directory_above(file))) TRY(read(path, depth + 1, into));
    }
    into.push_back(std::move(source));
  }
  return {};
}

Result<CanonicalPath> GitReach::canonical(const std::string& path) {
  Resolved resolved = TRY(looker_.resolve(path, FinalLink::kFollow));
  return CanonicalPath{std::move(resolved.path), resolved.type};
}

Result<std::optional<std::string>> GitReach::text_of(const std::string& file) {
  const auto found = canonical(file);
  if (!found || found->type != plan::FileType::kFile) return std::optional<std::string>();
  if (++files_ > kGitFilesMax) {
    return fail(Error::invalid(cat({"git's configuration: more files than the ", std::to_string(kGitFilesMax),
                                    " that hutch reads, the last one ", printable(file), "; ", remedy()})));
  }
  auto text = sys::regular_file_text(found->path, kGitFileBytesMax);
  // The user's git may not read a file either that this user may not read.
  if (!text && is_out_of_reach(text.error())) return std::optional<std::string>();
  if (!text) return fail(std::move(text).error());
  return std::optional(std::move(*text));
}

// A command can make any number of repositories. The error says what to remove, so that the next command can start.
std::string GitReach::remedy() const {
  std::map<std::string, std::size_t> counts;
  for (const std::string& path : search_.repositories) ++counts[directory_above(directory_above(path))];
  const auto most = std::ranges::max_element(counts, {}, [](const auto& count) { return count.second; });
  if (most == counts.end()) return "allow writing a smaller tree";
  return cat({printable(most->first),
              " holds the most repositories: remove those that you do not need, or the directory "
              "from what may be written (--deny-write)"});
}

// As git's interpolate_path() and expand_user_path() do. "%(prefix)" is where git is installed.
std::vector<std::string> GitReach::absolute(std::string_view path, std::string_view base) const {
  static constexpr std::string_view kInstalledIn = "%(prefix)/";
  if (path.starts_with(kInstalledIn)) {
    const std::string_view below = path.substr(kInstalledIn.size());
    return {cat({"/usr/", below}), cat({"/usr/local/", below})};
  }
  const std::string_view user = path.substr(0, path.find('/'));
  if (user.size() > 1 && user.starts_with('~')) {
    const auto found = find_os_user(user.substr(1));
    if (found && *found) return {cat({(*found)->home, path.substr(user.size())})};
    const bool is_own = search_.home.ends_with(cat({"/", user.substr(1)}));
    return is_own ? std::vector{cat({search_.home, path.substr(user.size())})} : std::vector<std::string>();
  }
  auto one = policy::obeyed_path(path, search_.home, base);
  return one ? std::vector{std::move(*one)} : std::vector<std::string>();
}

Status GitReach::add(const GitSource& source, const std::string& work_tree) {
  using enum policy::ObeyedName::Needs;
  const policy::GitEntry& entry = source.entry;
  const std::string where = cat({entry.section, ".", entry.key, " of ", printable(source.file)});
  for (const policy::ObeyedName& name : policy::obeyed_names(entry)) {
    if (name.needs == kMatches) {
      TRY(add_matches(name.path, where, work_tree));
      continue;
    }
    const bool by_file = name.kind == policy::GitRead::kConfig;
    const std::string base = by_file ? directory_above(source.file) : work_tree;
    bool is_any = false;
    for (const std::string& path : name.needs == kInPath ? in_path(name.path, base) : absolute(name.path, base)) {
      const bool looks = name.needs == kNoDirectory || name.needs == kFile;
      const auto there = looks ? canonical(path) : CanonicalPath{{}, plan::FileType::kFile};
      if (!there) continue;
      const bool is_file = there->type == plan::FileType::kFile;
      const bool may_come = name.needs == kNoDirectory && there->type == plan::FileType::kAbsent;
      if (is_file || may_come) found_.try_emplace(path, ObeyedPath{path, where});
      is_any = is_any || is_file;
    }
    if (!is_any) continue;
    for (std::string& pattern : by_file ? std::vector<std::string>() : policy::obeyed_in_any_work_tree(name)) {
      patterns_.try_emplace(pattern, ObeyedPath{pattern, where});
    }
  }
  return {};
}

// Protects what a pattern of a command matches, now and later.
Status GitReach::add_matches(const std::string& path, const std::string& where, const std::string& work_tree) {
  const bool is_relative = !path.starts_with('/') && !path.starts_with('~');
  for (const std::string& rest : is_relative ? std::vector{path} : absolute(path, work_tree)) {
    const std::string pattern = is_relative ? cat({policy::escape_wildcards(work_tree), "/", rest}) : rest;
    if (pattern.contains('\0') || !policy::check_pattern(pattern)) continue;
    patterns_.try_emplace(pattern, ObeyedPath{pattern, where});
    for (const std::string& match : TRY(expand_pattern(pattern))) {
      const auto there = canonical(match);
      if (there && there->type == plan::FileType::kFile) found_.try_emplace(match, ObeyedPath{match, where});
    }
  }
  return {};
}

// A program that the user's PATH leads to from the current directory.
std::vector<std::string> GitReach::in_path(std::string_view program, const std::string& base) const {
  static constexpr std::string_view kPath = "PATH=";
  std::vector<std::string> paths;
  for (const std::string_view line : search_.environment) {
    if (!line.starts_with(kPath)) continue;
    // An empty entry is the current directory.
    for (std::string_view rest = line.substr(kPath.size());; rest.remove_prefix(rest.find(':') + 1)) {
      const std::string_view directory = rest.substr(0, rest.find(':'));
      if (!directory.starts_with('/')) paths.push_back(cat({base, "/", directory, "/", program}));
      if (!rest.contains(':')) break;
    }
  }
  return paths;
}

std::string directory_above(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string_view::npos ? std::string("/") : std::string(path.substr(0, slash));
}

std::string trimmed_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  return std::string(text);
}

}  // namespace

Result<ObeyedByGit> paths_that_git_obeys(const GitSearch& search) { return GitReach(search).run(); }

}  // namespace hutch::host
