// Which OS users a person may run sandboxes as, by hutch-helper: files of root's that hutch init makes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/machine/account.h"

namespace hutch::host {

// Whether root has said so: there is plan::people_entry, of somebody who is called as that person is. An error where
// somebody else could have made it.
Result<bool> may_become(std::uint32_t person, const std::string& user);

// Whether root has let that person have users for single agents made: there is plan::agents_grant, of somebody who is
// called so. An error where somebody else could have made it.
Result<bool> may_have_agents_users(std::uint32_t person);

// Code::kConflict where root has had a daemon be that user: what is that user could be the daemon. Its files say so too
// where they are not closed to it.
Status check_is_no_daemon(const OsUser& user);
// Code::kConflict where a person of this machine is called as agents' users are: by number, and a home that none of
// these has.
Status check_is_no_person(const OsUser& user);
// Code::kConflict where a process is that user; its number is in the message, with `why` it may not be.
Status check_is_at_rest(const OsUser& user, std::string_view why);

// What a person is called in the names of their OS users: as /etc/passwd has it, else by the number. No variable says
// so.
Result<std::string> person_name(std::uint32_t person);

// Which person's number root has let be `user`, where it was somebody who was called so then; also of one who is no
// more.
Result<std::optional<std::uint32_t>> person_who_may_become(std::string_view person, const std::string& user);

// The users of this machine that hutch init made: by name, and home.
Result<std::vector<OsUser>> agents_users();

// Code::kPermissionDenied unless the absolute path and every directory above it are root's, and no one else's to
// change.
Status check_is_roots(const std::string& path);

}  // namespace hutch::host
