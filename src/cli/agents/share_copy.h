// hutch share --copy, and hutch unshare of a copy.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/agents/share.h"
#include "host/machine/account.h"
#include "service/share/share.h"
#include "store/shares.h"
#include "tool/value.h"

namespace hutch::cli {

int share_copy(const ShareArguments& arguments, const host::OsUser& user, const service::Sharer& sharer);

// `not_shared` is what is said where it is no copy either. `user` is an OS user's name; empty: of all.
int remove_copies(const ShareArguments& arguments, const std::string& user, const service::Sharer& sharer,
                  const Error& not_shared);

tool::Value copy_json(const store::Copy& copy);
// Of the table of hutch shared.
std::vector<std::string> copy_row(const store::Copy& copy);

}  // namespace hutch::cli
