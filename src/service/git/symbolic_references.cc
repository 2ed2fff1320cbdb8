// Reads references that say "ref:".
#include "service/git/symbolic_references.h"

#include <cstddef>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "base/unique_fd.h"
#include "plan/git/state.h"
#include "sys/files/beneath.h"
#include "sys/files/changed.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"

namespace hutch::service {

namespace {

constexpr std::size_t kSymbolicEntriesMax = 200'000;
constexpr int kSymbolicDepthMax = 32;
constexpr std::size_t kSymbolicBytesMax = 4 << 10;

class SymbolicSearch {
 public:
  // git takes each file of the directory itself for a pseudo reference, and each one below "refs" for a reference.
  void search(const std::string& directory, std::int64_t since_ns) { walk(directory, Level::kTop, since_ns, 0); }

  ReferencesElsewhere take() { return std::move(result_); }

 private:
  enum class Level { kTop, kReferences };

  // What is in a directory that was moved here has not changed.
  void walk(const std::string& directory, Level level, std::int64_t since_ns, int depth) {
    if (level == Level::kReferences && is_new(directory, since_ns)) since_ns = 0;
    const auto listing = sys::open_listing(directory);
    const auto names = listing ? sys::names_in(listing->get(), directory) : Result<std::vector<sys::TreeEntry>>();
    const bool is_deep = depth > kSymbolicDepthMax;
    if (is_deep && is_new(directory, since_ns)) return result_.found.push_back({directory, "what hutch did not read"});
    if (!listing || !names || is_deep) return not_searched(directory);
    for (const sys::TreeEntry& entry : *names) {
      if (++entries_ > kSymbolicEntriesMax) return not_searched(directory);
      look(cat({directory, "/", entry.name}), entry, level, since_ns, depth);
    }
  }

  void look(const std::string& path, const sys::TreeEntry& entry, Level level, std::int64_t since_ns, int depth) {
    if (entry.kind == sys::EntryKind::kDirectory) {
      if (level == Level::kReferences || entry.name == "refs") walk(path, Level::kReferences, since_ns, depth + 1);
      return;
    }
    const bool is_named = entry.name == "packed-refs" || entry.name.starts_with("index");
    const bool is_other = level == Level::kTop && (is_named || plan::is_message_of_git(entry.name));
    if (entry.kind == sys::EntryKind::kSymlink || is_other || !is_new(path, since_ns)) return;
    const auto text = first_bytes(path);
    if (!text) not_searched(path);
    const auto name = text ? plan::symbolic_target(*text) : std::nullopt;
    if (!name) return;
    // git leaves out any number of blanks behind the name.
    const bool is_whole = text->size() < kSymbolicBytesMax;
    // `git stash` would move the branch that it names.
    const bool is_stash = level == Level::kReferences && path.ends_with("/refs/stash");
    if (!is_whole || is_stash || !plan::is_reference_name(*name)) result_.found.push_back({path, std::string(*name)});
  }

  void not_searched(const std::string& path) {
    if (result_.is_complete) result_.not_searched = path;
    result_.is_complete = false;
  }

  // A pipe, or a file that is gone, is no reference.
  static Result<std::string> first_bytes(const std::string& path) {
    const auto status = sys::status_of(path);
    if (!status) return fail(status.error());
    if (!*status || (*status)->kind != sys::EntryKind::kFile) return std::string();
    const UniqueFd file = TRY(sys::open(path, sys::Open::kRead));
    return sys::read_at(file.get(), 0, kSymbolicBytesMax);
  }

  static bool is_new(const std::string& path, std::int64_t since_ns) {
    const auto version = sys::file_version(path);
    return !version || version->changed_ns >= since_ns;
  }

  std::size_t entries_ = 0;
  ReferencesElsewhere result_;
};

}  // namespace

ReferencesElsewhere references_elsewhere(const std::vector<std::string>& directories,
                                         const std::function<std::int64_t(const std::string& directory)>& since_ns) {
  SymbolicSearch search;
  for (const std::string& directory : directories) search.search(directory, since_ns(directory));
  return search.take();
}

}  // namespace hutch::service
