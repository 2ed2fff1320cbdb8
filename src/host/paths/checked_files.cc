// Finds host files that programs refuse in a sandbox because of their apparent owner.
#include "host/paths/checked_files.h"

#include <algorithm>
#include <deque>
#include <set>

#include "base/text.h"
#include "host/paths/paths.h"
#include "plan/paths/checked_files.h"
#include "policy/glob.h"
#include "sys/files/beneath.h"
#include "sys/files/files.h"
#include "sys/files/identity.h"
#include "sys/files/tree.h"
#include "sys/process/host_info.h"

namespace hutch::host {

namespace {

// The limits of matches in one directory, and of all files.
constexpr std::size_t kMatchesMax = 2 * plan::kCheckedFilesMax;
constexpr std::size_t kLooksMax = 256;

class Includes {
 public:
  explicit Includes(const plan::CheckedConfig& config) : config_(config) {}

  CheckedFiles run();

 private:
  void add(std::string_view text);
  void add_matches(const std::string& pattern);
  void read(const std::string& path);

  const plan::CheckedConfig& config_;
  std::deque<std::string> paths_;  // not read yet
  std::set<std::string> seen_;
  CheckedFiles found_;
  bool is_limited_ = false;
};

CheckedFiles Includes::run() {
  const std::string path(config_.path);
  if (const auto text = sys::regular_file_text(path, plan::kCheckedBytesMax)) add(*text);
  for (std::size_t looks = 0; !paths_.empty() && looks < kLooksMax; ++looks) {
    const std::string next = std::move(paths_.front());
    paths_.pop_front();
    read(next);
  }
  is_limited_ = is_limited_ || !paths_.empty();
  if (is_limited_) {
    found_.notes.push_back(
        cat({config_.path, " includes more or larger files than a sandbox has copies of, so ", config_.program,
             " may refuse to start; ", config_.program, " -F FILE reads FILE alone"}));
  }
  return std::move(found_);
}

void Includes::add(std::string_view text) {
  for (const std::string& include : plan::includes_of(config_, text)) {
    policy::has_wildcard(include) ? add_matches(include) : paths_.push_back(include);
  }
}

// Wildcards above the last component are not expanded. As in glob(7), "*" does not match a name that starts with a dot.
void Includes::add_matches(const std::string& pattern) {
  const std::size_t slash = pattern.rfind('/');
  const std::string directory = policy::unescape(pattern.substr(0, slash));
  const std::string last = pattern.substr(slash + 1);
  if (policy::has_wildcard(pattern.substr(0, slash))) return;
  const auto entries = sys::list_directory(directory, sys::Listing::kAll);
  if (!entries) return;
  std::vector<std::string> names;
  for (const sys::DirectoryEntry& entry : *entries) {
    const bool is_dot_file = entry.name.starts_with('.') && !last.starts_with('.');
    if (!is_dot_file && policy::matches_component(last, entry.name)) names.push_back(entry.name);
  }
  std::ranges::sort(names);
  is_limited_ = is_limited_ || names.size() > kMatchesMax;
  names.resize(std::min(names.size(), kMatchesMax));
  for (const std::string& name : names) paths_.push_back(cat({directory, "/", name}));
}

void Includes::read(const std::string& path) {
  auto canonical = canonical_path(path);
  if (!canonical || canonical->type != plan::FileType::kFile || !seen_.insert(canonical->path).second) return;
  // hutch checks and reads the same open file, because another file may get the name meanwhile.
  const auto file = sys::open_exact(canonical->path);
  const auto status = file ? sys::file_status(file->get(), "") : Result<sys::FileStatus>(fail(file.error()));
  const bool is_regular = status && status->kind == sys::EntryKind::kFile;
  if (!is_regular || !plan::is_roots_alone(status->owner, status->mode)) return;
  auto text = sys::regular_file_text(cat({"/proc/self/fd/", std::to_string(file->get())}), plan::kCheckedBytesMax);
  // A file that this user may not read is refused outside as well.
  const bool is_large = !text && text.error().code == Code::kInvalidArgument;
  const bool is_over = is_large || found_.files.size() == plan::kCheckedFilesMax;
  is_limited_ = is_limited_ || is_over;
  if (!text || is_over) return;
  add(*text);
  found_.files.push_back({std::move(canonical->path), *std::move(text)});
}

}  // namespace

CheckedFiles look_at_checked_files(std::uint32_t uid) {
  CheckedFiles all;
  // A sandbox has no capability: it reads only what its user's permissions allow, and a copy must not hold more.
  if (uid == 0 || sys::reads_beyond_permissions().value_or(true)) return all;
  for (const plan::CheckedConfig& config : plan::kCheckedConfigs) {
    CheckedFiles found = Includes(config).run();
    std::ranges::move(found.files, std::back_inserter(all.files));
    std::ranges::move(found.notes, std::back_inserter(all.notes));
  }
  return all;
}

}  // namespace hutch::host
