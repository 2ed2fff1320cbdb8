// Protected files that git replaces, removes and makes: a content that the user has committed lands, any other is held
// back.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "guest/git/kept_contents.h"
#include "guest/git/trusted_contents.h"
#include "guest/places/access_place.h"
#include "plan/guarded_names.h"
#include "sys/files/writers.h"

namespace hutch::guest {

// A caller that makes such a file gets a file in memory. When nobody can write that any more, the supervisor copies and
// judges its content, and makes the file of the copy: nobody in the sandbox ever has a descriptor of what lands. It
// does so before it answers the next call, as git expects. A file whose removal git asks for, to make it anew, stays
// until the new one takes its place.
class ReplacedFiles {
 public:
  // kHeldBack: a content did not land. kKept: a removal did not happen. kShown: a content is about to land that only an
  // earlier commit has, or to go that no reference has. kLanded: a file has landed. kSetAside: a content that no
  // reference has is in the quarantine, under the name that is passed as the rule's. kLinked: a link is about to land
  // that leads to the path.
  enum class Event { kHeldBack, kKept, kShown, kLanded, kSetAside, kLinked };
  using Tell =
      std::function<void(Event event, std::uint32_t caller, const std::string& path, const plan::NameRule& rule)>;

  // Files get their modes by `umask`, the user's own.
  ReplacedFiles(UniqueFd commits, UniqueFd quarantine, mode_t umask)
      : contents_(std::move(commits)), kept_(std::move(quarantine)), umask_(umask) {}

  // Whether any content may land (security.gitBringsCommitted).
  bool lands() const { return contents_.knows_commits(); }

  bool is_in_work_tree(const Places& places, const Entry& entry) const {
    return contents_.is_in_work_tree(places, entry);
  }

  using ContentFound = plan::GitContents::Found;
  struct Wanted {
    Entry entry;
    plan::NameRule rule;
    enum class Kind { kPlain, kProgram } kind = Kind::kPlain;
    std::uint32_t caller = 0;
  };
  // For writing. EEXIST if a file is there whose removal nobody has asked for.
  Result<UniqueFd> open(Wanted wanted);
  // Whether a file has the name, and nobody has asked for its removal.
  bool is_taken(const Entry& entry) const;
  // A symbolic link: it lands, or is held back, at once. `protects` is the path to protect before; empty: none.
  struct Link {
    std::string target;
    std::string protects;
  };
  Status link(const Places& places, const Wanted& wanted, const Link& link, const Tell& tell);
  // kMayGo: one of the user's references has the file, and another is without it; or git has made it here. kStays: each
  // has it, so that git may be about to make it anew; the call succeeds all the same. kRefused: git has no such file.
  enum class Removal { kMayGo, kStays, kRefused };
  Removal remove(const Places& places, const Wanted& wanted, const Tell& tell);

  void add_to(std::vector<pollfd>& wait) const;
  // Makes the files that are complete.
  void land(const Places& places, const Tell& tell);
  // Likewise, at the end of a command; then tells which files stay although their removal was asked for.
  void settle(const Places& places, const Tell& tell);

 private:
  static constexpr std::size_t kOpenMax = 256;
  static constexpr std::size_t kContentBytesMax = 4 << 20;
  static constexpr std::size_t kLearnedMax = 4096;

  struct Pending {
    Wanted wanted;
    UniqueFd read;
  };
  struct Content {
    std::uint32_t mode = 0;  // as git has it
    std::string bytes;
  };
  struct Left {
    std::uint32_t caller = 0;
    plan::NameRule rule;
  };
  // A file that has landed. Nothing was at its name before: its removal loses nothing.
  struct Landed {
    sys::Resolved what;
    std::string key;  // of its content
    enum class Before { kNothing, kFile } before = Before::kNothing;
  };
  bool is_left(const std::string& path) const { return left_.contains(path); }
  plan::GitContents::Found judge(const Places& places, const Entry& entry, const Content& content);
  void learn(const Entry& entry, const Content& content);
  static std::optional<Content> content_of(const Entry& entry);
  bool is_lost(const Places& places, const Entry& entry);
  bool is_as_landed(const Entry& entry) const;
  Status set_aside(const Wanted& wanted, const Tell& tell);
  Status land_one(const Places& places, const Pending& pending, const Tell& tell);
  struct Judged {
    ContentFound found = ContentFound::kNo;
    std::string key;
  };
  Status put(const Places& places, const Wanted& wanted, const Judged& judged,
             const std::function<Result<sys::Resolved>()>& make, const Tell& tell);

  TrustedContents contents_;
  KeptContents kept_;
  const mode_t umask_;
  std::optional<sys::ClosingWatch> watch_;  // once there was a file
  std::vector<Pending> pending_;
  std::map<std::string, Left> left_;  // by path
  std::map<std::string, Landed> landed_;  // by path
  // What was there when its removal was asked for: nobody in the sandbox has written it.
  std::set<std::pair<std::string, std::string>> learned_;  // path, and mode with the sum of the content
};

}  // namespace hutch::guest
