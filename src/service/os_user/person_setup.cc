// What hutch init --for does, from what is there.
#include "service/os_user/person_setup.h"

#include <algorithm>
#include <optional>

#include "base/decimal.h"
#include "base/text.h"
#include "host/machine/account.h"
#include "host/machine/isolation_facts.h"
#include "host/machine/people.h"
#include "service/common/programs.h"
#include "service/os_user/init.h"
#include "sys/files/files.h"
#include "sys/files/identity.h"
#include "sys/process/host_info.h"
#include "sys/process/process.h"

namespace hutch::service {

namespace {

struct Person {
  std::string name;
  std::uint32_t uid = 0;
};

// Whoever runs this, or has root's rights by sudo(8).
Result<std::string> who_asks() {
  if (sys::user_id() != 0) return host::person_name(sys::user_id());
  const auto number = decimal_of(sys::environment_variable("SUDO_UID").value_or(""));
  if (number && *number != 0) return host::person_name(*number);
  return fail(Error::invalid("--for me: who that is sudo says, and this is not run by sudo; name the person"));
}

// One of LDAP and its like has a number alone here, by which hutch knows them too.
Result<Person> find_person(const std::string& typed) {
  const bool is_me = typed == "me" && !TRY(host::find_os_user(typed));
  const std::string person = is_me ? TRY(who_asks()) : typed;
  const auto user = TRY(host::find_os_user(person));
  const auto number = user ? std::optional(user->uid) : decimal_of(person);
  if (!number) return fail(Error::not_found(cat({"this machine has no user ", printable(person)})));
  if (*number == 0) return fail(Error::invalid("root needs no helper: sudo hutch init"));
  return Person{TRY(host::person_name(*number)), *number};
}

// Whose users are to go. The person may be gone, and the number somebody else's.
Result<Person> find_person_with(const std::string& person, const std::string& agent) {
  const std::string name = plan::os_user_name_of(person, agent);
  if (const auto number = TRY(host::person_who_may_become(person, name))) return Person{person, *number};
  return find_person(person);
}

}  // namespace

Result<std::string> os_user_of_person(const std::string& person, const std::string& agent) {
  const Person found = TRY(find_person_with(person, agent));
  return plan::os_user_name_of(found.name, agent);
}

namespace {

plan::HelperStarter starter_here() {
  if (sys::exists("/run/systemd/system")) return plan::HelperStarter::kSystemd;
  const bool has_sudo = sys::exists("/etc/sudoers.d") && !host::find_system_program("sudo").empty();
  return has_sudo ? plan::HelperStarter::kSudo : plan::HelperStarter::kNone;
}

std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names;
  const auto entries = sys::list_directory(directory, sys::Listing::kAll);
  if (!entries) return names;
  for (const sys::DirectoryEntry& entry : *entries) names.push_back(entry.name);
  return names;
}

// It stands in a unit and in a rule of sudo's, where other letters mean something.
Status check_letters(const std::string& program) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("/._+-").find(c) != std::string_view::npos;
  };
  if (std::ranges::all_of(program, plain)) return {};
  return fail(
      Error::unsupported(cat({printable(program),
                              ": root is to start that, and its path has letters that units and rules read in another "
                              "way; install hutch at a plain path"})));
}

Result<plan::PersonFacts> facts_of(const Person& person, const std::string& name) {
  plan::PersonFacts facts{.person = person.name, .uid = person.uid, .user = TRY(os_user_facts(name))};
  facts.helper = TRY(helper_program());
  facts.hutch = TRY(sys::own_program());
  facts.starter = starter_here();
  facts.has_rule = sys::exists(plan::sudoers_file(person.uid));
  facts.has_units = sys::exists(std::string(plan::kHelperSocketUnit));
  facts.has_grant = sys::exists(plan::agents_grant(person.uid));
  const std::string people = cat({plan::kHelperPlace, "/people"});
  for (const std::string& other : names_in(people)) {
    const auto users = names_in(cat({people, "/", other}));
    const bool has_it = std::ranges::find(users, name) != users.end();
    if (decimal_of(other) == person.uid) {
      facts.has_directory = true;
      facts.has_entry = has_it;
      facts.has_other_users = users.size() > (has_it ? 1U : 0U);
      continue;
    }
    if (!users.empty()) facts.has_other_people = true;
    if (!has_it) continue;
    return fail({Code::kConflict, 0, cat({"the user ", name, " is that of person ", printable(other)})});
  }
  const auto user = TRY(host::find_os_user(name));
  if (!user || user->home == plan::os_user_home(name)) return facts;
  return fail({Code::kConflict, 0, cat({"the user ", name, " of this machine is not hutch's: its home is elsewhere"})});
}

}  // namespace

Result<std::vector<plan::SetupStep>> init_person_plan(const std::string& person, const std::string& agent) {
  const Person found = TRY(find_person(person));
  const std::string name = plan::os_user_name_of(found.name, agent);
  plan::PersonFacts facts = TRY(facts_of(found, name));
  // The machine's own user is not in this.
  facts.user.has_common_user = true;
  TRY(settle_numbers(name, facts.user));
  TRY_CTX(host::check_is_roots(facts.helper), "hutch-helper would run as root");
  TRY_CTX(host::check_is_roots(facts.hutch), "hutch init would run as root");
  TRY(check_letters(facts.helper));
  if (facts.starter == plan::HelperStarter::kNone) {
    return fail(Error::unsupported(
        "this machine has neither systemd, which would start hutch-helper, nor sudo: install one of them"));
  }
  return with_network(plan::init_person_steps(name, facts));
}

std::size_t users_of_agents(const std::string& person) {
  const auto found = find_person_with(person, "");
  if (!found) return 0;
  const std::string own = plan::os_user_name_of(found->name, "");
  const auto names = names_in(plan::people_directory(found->uid));
  return names.size() - static_cast<std::size_t>(std::ranges::count(names, own));
}

Result<std::vector<plan::SetupStep>> deinit_person_plan(const std::string& person, const std::string& agent,
                                                        plan::Homes homes) {
  const Person found = TRY(find_person_with(person, agent));
  const std::string name = plan::os_user_name_of(found.name, agent);
  TRY(check_is_no_daemons(name));
  const plan::PersonFacts facts = TRY(facts_of(found, name));
  TRY(check_may_go(facts.user.places, homes));
  return with_network(plan::deinit_person_steps(name, facts, homes));
}

}  // namespace hutch::service
