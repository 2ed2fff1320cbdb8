// The commands of useradd(8), install(1) and others that set up OS users, each as a step.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plan/setup/os_user.h"

namespace hutch::plan {

// `number` 0: useradd(8) chooses. `group`: one more; empty: none.
SetupStep system_user(const std::string& name, std::uint32_t number, const std::string& home, const std::string& group);
// With a key that lies in a home which agents write, one could come in by a login service, outside of any sandbox. The
// account is over for all that ask PAM or shadow(5) (sshd, cron, su); others (dropbear) look whether shells(5) has the
// user's shell, and find bash there by another name. What is started as the user is not asked.
void end_logins(std::vector<SetupStep>& steps, const std::string& name);
// Into kNumbersFile; nothing for 0.
void write_number(std::vector<SetupStep>& steps, const std::string& name, std::uint32_t number);
// A home, and other places of a user's: those that stay after it are root's, until the user is there again.
void end_places(std::vector<SetupStep>& steps, const OsUserFacts& facts, Homes homes);

SetupStep directory(std::string what, const std::string& path, std::string_view mode, std::string_view user,
                    std::string_view group);

// In a home that is the user's: by that user, since a link that lies in the way of root would be followed, and what it
// leads to given away (install(1)).
SetupStep own_directory(std::string what, const std::string& path, std::string_view user);

// A file of root's, put in its place whole.
SetupStep root_file(std::string what, const std::string& path, std::string text);

void add_denial(std::vector<SetupStep>& steps, const std::string& name, std::string_view file, DenyList list);
void remove_denial(std::vector<SetupStep>& steps, const std::string& name, std::string_view file, DenyList list);

}  // namespace hutch::plan
