// What is asked, and what never is.
#include "approval/question.h"

#include "base/text.h"

namespace hutch::approval {

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::kRead: return "read";
    case Kind::kWrite: return "write";
    case Kind::kConnect: return "connect";
    case Kind::kSocket: return "socket";
    case Kind::kIsolation: return "isolation";
  }
  return "";
}

std::string subject_of(const Question& question) {
  const auto verb = [&]() -> std::string_view {
    switch (question.kind) {
      case Kind::kRead: return "read ";
      case Kind::kWrite: return "write ";
      case Kind::kConnect: return "connect to ";
      case Kind::kSocket: return "connect to the socket ";
      case Kind::kIsolation: return "run without isolation: ";
    }
    return "";
  };
  return cat({verb(), question.target});
}

std::optional<std::string> never_asked(Kind kind, const policy::Rule* rule, const policy::Asks& asks) {
  if (rule != nullptr) {
    switch (rule->origin) {
      case policy::Origin::kStore: return "hutch's own files are never visible inside";
      case policy::Origin::kCredential: return "it is a credential";
      case policy::Origin::kRepository:
      case policy::Origin::kMandatory: return "programs outside act on what is written there";
      case policy::Origin::kHome:
      case policy::Origin::kBuiltIn:
      case policy::Origin::kPolicy:
      case policy::Origin::kOption: break;
    }
    const bool denies = rule->verb == policy::Verb::kDenyWrite && rule->origin != policy::Origin::kHome;
    if (denies) return cat({policy::describe(*rule), " denies it"});
  }
  const policy::Asking asking = kind == Kind::kRead ? asks.read : kind == Kind::kWrite ? asks.write : asks.socket;
  if (kind != Kind::kConnect && asking == policy::Asking::kNever) return "the policy says that it is not asked";
  return std::nullopt;
}

}  // namespace hutch::approval
