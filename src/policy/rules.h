// Rule: one entry about one path. The lists of a policy and the options of a command line become rules;
// host/paths/paths makes their paths canonical; decide() and the mount planner read the same rules, so that they cannot
// disagree.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/policy.h"

namespace hutch::policy {

enum class Verb { kAllowRead, kDenyRead, kAllowWrite, kDenyWrite, kPlace };

// What a kPlace rule puts at its path instead of the host's own content.
enum class Place {
  kNone,
  kPrivate,  // an empty directory of the sandbox's own, writable
  kProc,     // the sandbox's own processes
  kSys,      // /sys/devices/system alone
  kDevices,  // the few devices that every program needs
};

enum class Origin {
  kBuiltIn,    // holds unless a policy or an option says otherwise
  kPolicy,     // an entry of the policy
  kOption,     // of the command line; beats the policy's entry for the same path
  kMandatory,  // a write deny that only an allowWrite entry of that very path lifts
  kRepository,  // of the repository that comes along with a work tree; its write denies are lifted as kMandatory
  kHome,       // a write deny of files that programs obey in a home: asked about, and lifted as kMandatory
  kCredential,  // a read deny that only an allowRead entry of that very path, or of one in it, lifts
  kStore,      // hutch's own files; nothing lifts it
};

// kGlob: the path was found by a pattern (or, before host/paths/paths has looked, is one).
enum class Match { kLiteral, kGlob };

struct Rule {
  Verb verb = Verb::kAllowRead;
  Origin origin = Origin::kPolicy;
  Match match = Match::kLiteral;
  Place place = Place::kNone;
  std::string path{};   // absolute; canonical once host/paths/paths has looked
  std::string text{};   // as written
  std::string where{};  // "filesystem.denyRead[0]", "--deny-read", "built in"
  // kNames: of a protected directory without a mount. The supervisor of changes holds it by its name, because the user
  // allows an absent file in it, which a read-only mount would keep from being made.
  enum class HeldBy { kMount, kNames } held_by = HeldBy::kMount;
  bool operator==(const Rule&) const = default;
};

// What "~" and relative entries are resolved against. All absolute.
struct Bases {
  std::string home;
  std::string project;  // entries of a policy
  std::string cwd;  // options of the command line
};

// Entries of a command line, as typed.
struct PathOptions {
  std::vector<std::string> allow_read;
  std::vector<std::string> deny_read;
  std::vector<std::string> allow_write;  // also allows reading
  std::vector<std::string> deny_write;
  std::string agent{};  // whose settings they are; empty: options of a command line
};

// The rules of a policy's lists. Paths are absolute but may still hold "..", links and wildcards.
Result<std::vector<Rule>> rules_of(const Policy& policy, const Bases& bases);

// The rules of the options, in the same form.
Result<std::vector<Rule>> rules_of(const PathOptions& options, const Bases& bases);

// "~/x" and "x" made absolute; "//" and "/./" are taken out, ".." is kept for whoever can see the links.
Result<std::string> absolute_path(std::string_view text, std::string_view home, std::string_view base);

// How a person reads it: `filesystem.denyRead[0] "/home"`.
std::string describe(const Rule& rule);

std::string_view name_of(Verb verb);

}  // namespace hutch::policy
