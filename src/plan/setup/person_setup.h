// The steps by which root lets a person who is not root have sandboxes that are OS users: by hutch-helper.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plan/setup/os_user.h"

namespace hutch::plan {

// What starts hutch-helper on this machine.
enum class HelperStarter { kNone, kSystemd, kSudo };

struct PersonFacts {
  std::string person;  // as the person is called
  std::uint32_t uid = 0;
  OsUserFacts user;    // of the OS user that is meant
  std::string helper{};  // hutch-helper's path
  std::string hutch{};   // and hutch's
  HelperStarter starter = HelperStarter::kNone;
  bool has_other_users = false;   // the person has more than that one
  bool has_other_people = false;  // others have some
  // What deinit finds, which may have been stopped before.
  bool has_entry = false;      // the user is the person's
  bool has_directory = false;  // for entries
  bool has_grant = false;      // of agents_grant
  bool has_rule = false;       // of sudo's
  bool has_units = false;
};

// Of one person, of agents that are and were: each keeps its files and its number.
inline constexpr std::size_t kAgentsUsersMax = 32;

// `name` is of os_user_name_of. What starts the helper is set every time: its path may be another by now.
std::vector<SetupStep> init_person_steps(const std::string& name, const PersonFacts& facts);
// With a person's last user goes their rule for sudo; with the last person's, the unit.
std::vector<SetupStep> deinit_person_steps(const std::string& name, const PersonFacts& facts, Homes homes);

std::string sudoers_file(std::uint32_t person);
inline constexpr std::string_view kHelperSocketUnit = "/etc/systemd/system/hutch-helper.socket";
inline constexpr std::string_view kHelperServiceUnit = "/etc/systemd/system/hutch-helper@.service";
std::string helper_socket_unit();
std::string helper_service_unit(std::string_view helper);
std::string helper_sudoers(std::uint32_t person, std::string_view helper);

}  // namespace hutch::plan
