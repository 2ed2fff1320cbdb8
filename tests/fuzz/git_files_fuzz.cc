// Fuzzes what is read of git's files: its index, configurations, links between repositories, prepared operations.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "plan/git/config.h"
#include "plan/git/config_change.h"
#include "plan/git/config_text.h"
#include "plan/git/files.h"
#include "plan/git/index.h"
#include "plan/git/known_commits.h"
#include "plan/git/objects.h"
#include "plan/git/state.h"
#include "policy/git/obeyed.h"

namespace {

using namespace hutch;

void require(bool condition) {
  if (!condition) std::abort();
}

bool is_plain(std::string_view name) {
  return !name.empty() && !name.starts_with('/') && !name.ends_with('/') && !name.contains("//") &&
         !name.contains('\0') && name != ".git" && name != ".." && !name.starts_with("../") &&
         !name.starts_with(".git/") && !name.contains("/../") && !name.contains("/.git/") && !name.ends_with("/..");
}

// Each name of an index that passes is one below the work tree, and entries add up to the whole.
void read_index(std::string_view text, plan::GitHash hash) {
  const auto all = [](std::string_view) { return true; };
  auto look = plan::look_at_git_index(text, hash, all);
  if (!look) return;
  require(look->outside.empty() || !look->outside.contains('\0'));
  auto reader = plan::GitIndexReader::open(text, hash);
  require(reader.has_value());
  while (const auto entry = reader->next()) {
    if (!*entry) break;
    const bool passes = look->outside.empty() && !(*entry)->name.empty() && !(*entry)->name.ends_with('/');
    require(!passes || is_plain((*entry)->name));
  }
  require(plan::drop_staged_in(text, hash, look->staged).has_value());
}

// What an object names has the length of a name, and a list that is broken knows nothing.
void read_objects(std::string_view text, plan::GitHash hash) {
  const auto size = static_cast<std::size_t>(hash);
  if (const auto commit = plan::read_git_commit(text, hash)) {
    require(commit->tree.size() == size);
    for (const std::string& parent : commit->parents) require(parent.size() == size);
  }
  if (const auto tagged = plan::read_git_tag(text, hash)) require(tagged->size() == size);
  const plan::GitTreeLookup found = plan::find_in_git_tree(text, "a", hash);
  require(found.found != plan::GitTreeLookup::Found::kYes || found.entry.object.size() == size);
  const plan::KnownCommits known = plan::read_known_commits(text);
  require(!known.is_broken || known.commits.empty());
}

// The two readers agree about what the strict one accepts, and a change that passes adds no setting that git reads.
void read_config(std::string_view text) {
  const auto strict = plan::read_git_config(text);
  if (!strict) return;
  const std::vector<policy::GitEntry> entries = policy::git_entries(text);
  require(entries.size() == strict->size());
  const bool passes = !plan::held_git_config_change("", text);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const plan::GitConfigEntry& entry = (*strict)[i];
    require(entry.section == entries[i].section && entry.key == entries[i].key);
    require(!passes || policy::git_setting(entry.section, entry.key).read == policy::GitRead::kNothing ||
            (entry.section == "submodule" && entry.key == "update"));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_config(text);
  read_index(text, plan::GitHash::kSha1);
  read_index(text, plan::GitHash::kSha256);
  read_objects(text, plan::GitHash::kSha1);
  read_objects(text, plan::GitHash::kSha256);
  for (const plan::GitStateFile& file : plan::git_state_files()) (void)plan::is_harmless_git_state(file, text);
  using enum plan::JudgedFile;
  for (const plan::JudgedFile kind : {kCommonDirectory, kWorktreeConfig, kMercurialConfig}) {
    (void)plan::is_harmless_text(kind, "/p/.git/worktrees/w/x", text, "/p");
  }
  const bool leads = plan::is_harmless_text(kGitLink, "/p/sub/.git", text, "/p");
  require(!leads || (text.starts_with("gitdir: ") && text.contains(".git/")));
  if (plan::is_harmless_git_config(text, "/p/.git")) {
    for (const policy::GitEntry& entry : policy::git_entries(text)) {
      require(policy::git_setting(entry.section, entry.key).write != policy::GitWrite::kHeld);
    }
  }
  const std::vector<std::string> environment{std::string("GIT_CONFIG_PARAMETERS=").append(text), std::string(text)};
  for (const policy::GitEntry& entry : policy::git_entries_of(environment)) (void)policy::obeyed_names(entry);
  for (const policy::ObeyedName& name : policy::obeyed_names({"alias", "", "x", std::string(text)})) {
    require(!name.path.empty() && !name.path.contains('\0'));
    (void)policy::obeyed_in_any_work_tree(name);
  }
  return 0;
}
