// Copies of one's own files for an agent's OS user, in its home: hutch share --copy, and their end.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/machine/account.h"
#include "service/share/copy_tree.h"
#include "service/share/share.h"
#include "store/shares.h"

namespace hutch::service {

struct CopyRequest {
  std::string path;  // as typed
  std::string into;  // likewise
  host::OsUser user;
  std::string agent;  // whose user it is; empty: nobody's alone
};

struct CopyReport {
  store::Copy copy;
  CopyCounts counts;
};

// Makes all of it or nothing. Where it was ended by force, the registry knows what is left.
// Code::kConflict where something has the place already.
Result<CopyReport> copy_to_agent(const CopyRequest& request, const Sharer& sharer, const CopyVoice& voice);

// The commands of the system's tools that make such a copy.
Result<std::vector<std::string>> copy_commands(const CopyRequest& request, const Sharer& sharer);

Result<std::vector<store::Copy>> list_copies(const Sharer& sharer);

struct EndedCopy {
  store::Copy copy;
  // kUserGone: nobody is that user any more, so that nothing was removed.
  enum class Files { kRemoved, kGoneAlready, kUserGone } files = Files::kRemoved;
};
// The copies that `path` is the place or the source of, as typed. `consent` is asked before any is removed. `user` as
// for end_share. Code::kNotFound where there are none.
Result<std::vector<EndedCopy>> end_copies(const std::string& path, const std::string& user, const std::string& agent,
                                          const Sharer& sharer,
                                          const std::function<Status(const std::vector<store::Copy>&)>& consent);

}  // namespace hutch::service
