// hutch share, shared and unshare: one's own files for an agent's OS user.
#pragma once

#include <string>

#include "base/result.h"
#include "plan/setup/sharing.h"
#include "service/common/request.h"
#include "service/share/share.h"

namespace hutch::cli {

struct ShareArguments {
  enum class Action { kShare, kShared, kUnshare };
  enum class Way { kAsk, kOpen };  // to a path below a directory that the user cannot pass through
  enum class Print { kNo, kCommands };
  enum class How { kShared, kCopied };
  enum class Removal { kAsk, kYes };  // of a copy
  Action action = Action::kShared;
  std::string path{};
  std::string agent{};  // empty: the user of all agents
  plan::ShareMode mode = plan::ShareMode::kReadWrite;
  Way way = Way::kAsk;
  Print print = Print::kNo;
  How how = How::kShared;
  std::string into{};  // of a copy, below the home of the user
  Removal removal = Removal::kAsk;
  service::Gone gone = service::Gone::kKept;
  service::OutputForm form = service::OutputForm::kText;
};

int share(const ShareArguments& arguments);

// What the caller shared with that OS user is taken back, and told, before the user goes.
Status end_shares_with(const std::string& name);

}  // namespace hutch::cli
