// hutch init and deinit.
#include "cli/machine/init.h"

#include "base/text.h"
#include "base/unique_fd.h"
#include "cli/agents/share.h"
#include "cli/terminal/output.h"
#include "host/machine/setup_turn.h"
#include "plan/setup/machine_setup.h"
#include "service/os_user/init.h"
#include "service/os_user/machine_setup.h"
#include "service/os_user/person_setup.h"
#include "sys/files/files.h"
#include "sys/files/identity.h"
#include "sys/io.h"

namespace hutch::cli {

namespace {

bool is_init(const InitArguments& arguments) { return arguments.action == InitArguments::Action::kInit; }

std::string step_line(const plan::SetupStep& step) {
  std::vector<std::string> words;
  for (const std::string& word : step.command) words.push_back(shell_word(word));
  return join(words, " ");
}

std::string setup_words(const InitArguments& arguments) {
  std::vector<std::string> words;
  if (arguments.what == InitArguments::What::kNetwork) words.emplace_back("network");
  if (arguments.what == InitArguments::What::kService) words.emplace_back("service");
  words.emplace_back(is_init(arguments) ? "init" : "deinit");
  if (!arguments.person.empty()) words.push_back("--for " + arguments.person);
  if (!arguments.agent.empty()) words.push_back("--agent " + arguments.agent);
  if (arguments.homes == plan::Homes::kRemoved) words.emplace_back("--remove-homes");
  for (const std::uint16_t port : arguments.ports) words.push_back("--port " + std::to_string(port));
  return join(words, " ");
}

Result<std::string> setup_user(const InitArguments& arguments) {
  if (!arguments.person.empty()) return service::os_user_of_person(arguments.person, arguments.agent);
  return arguments.agent.empty() ? std::string(plan::kCommonUser) : plan::os_user_name(arguments.agent);
}

Result<std::vector<plan::SetupStep>> setup_steps(const InitArguments& arguments, const std::string& user) {
  using What = InitArguments::What;
  const bool init = is_init(arguments);
  switch (arguments.what) {
    case What::kNetwork: return init ? service::network_init_plan(arguments.ports) : service::network_deinit_plan();
    case What::kService:
      return init ? service::service_init_plan(user, arguments.person)
                  : service::service_deinit_plan(user, arguments.person);
    case What::kUsers: break;
  }
  if (arguments.person.empty()) return init ? service::init_plan(user) : service::deinit_plan(user, arguments.homes);
  return init ? service::init_person_plan(arguments.person, arguments.agent)
              : service::deinit_person_plan(arguments.person, arguments.agent, arguments.homes);
}

std::string outcome_of_service(const InitArguments& arguments, const std::string& user) {
  if (!is_init(arguments)) return cat({"hutch's daemon no longer runs as ", user, ".\n"});
  if (sys::exists(plan::service_unit_file(user))) return cat({"hutch's daemon runs as ", user, ".\n"});
  const std::string start = service::service_start(user).value_or("");
  return cat({"No sandbox is ", user, " any more. There is no systemd: have root start the daemon.\n  ", start, "\n"});
}

// What there is now.
std::string outcome_of(const InitArguments& arguments, const std::string& user, std::size_t steps) {
  const bool init = is_init(arguments);
  switch (arguments.what) {
    case InitArguments::What::kNetwork: {
      if (!init) return "Agents' users have the machine's network outside of their sandboxes.\n";
      const bool stays = sys::exists(std::string(plan::kNetworkUnit));
      return cat({"Agents' users have no network outside of their sandboxes.\n",
                  stays ? "" : "There is no systemd: run hutch network apply at each start of the machine.\n"});
    }
    case InitArguments::What::kService: return outcome_of_service(arguments, user);
    case InitArguments::What::kUsers: break;
  }
  if (init) return cat({"The user ", user, " is ready.\n"});
  return steps == 0 ? cat({"There is no user ", user, ".\n"})
                    : cat({"The user ", user,
                           " is removed, and no agent's user gets its number again. What people shared with it "
                           "themselves they see by hutch shared.\n"});
}

// The steps are the same each time, and the person has seen them.
std::string again_words(const std::string& user, std::size_t steps) {
  return cat({"The user ", user, " is there already. Setting the modes and owners of what belongs to it again: ",
              counted(steps, "step"), ", which --dry-run lists.\n"});
}

std::string left_words(const InitArguments& arguments, std::size_t left) {
  return cat({"Still there: ", counted(left, "user"), " of agents; sudo hutch deinit --for ", arguments.person,
              " --agent NAME removes one.\n"});
}

// Before anything is looked at: what is to be done follows from what is there.
Result<UniqueFd> turn_of(const InitArguments& arguments) {
  if (arguments.run == InitArguments::Run::kDry || sys::user_id() != 0) return UniqueFd();
  return host::take_setup_turn({.begins = [] {
    (void)sys::write_all(2, "hutch: waiting: another hutch init or deinit runs, or hutch-helper makes users\n");
  }});
}

}  // namespace

int init(const InitArguments& arguments) {
  if (arguments.action == InitArguments::Action::kApply) {
    const Status applied = service::apply_network();
    return applied ? 0 : complain(applied.error());
  }
  const bool changes = arguments.action != InitArguments::Action::kCheck;
  const auto turn = changes ? turn_of(arguments) : Result<UniqueFd>();
  if (!turn) return complain(turn.error());
  const auto named = setup_user(arguments);
  if (!named) return complain(named.error());
  const std::string& user = *named;
  if (arguments.action == InitArguments::Action::kCheck) {
    const Status checked = service::check_service_user(user);
    return checked ? print(cat({"Nothing runs as ", user, ".\n"})) : complain(checked.error());
  }
  const auto steps = setup_steps(arguments, user);
  if (!steps) return complain(steps.error());
  if (arguments.run == InitArguments::Run::kDry) {
    std::string text;
    for (const plan::SetupStep& step : *steps) text += cat({"# ", step.what, "\n", step_line(step), "\n"});
    return print(text);
  }
  if (sys::user_id() != 0) {
    return complain(Error{.code = Code::kPermissionDenied,
                          .message = cat({"this takes root: sudo hutch ", setup_words(arguments)})});
  }
  const bool removes = !is_init(arguments) && arguments.what == InitArguments::What::kUsers;
  const Status ended = removes ? end_shares_with(user) : Status();
  if (!ended) return complain(ended.error());
  const bool is_again =
      is_init(arguments) && arguments.what == InitArguments::What::kUsers && !plan::make_a_user(*steps);
  if (is_again) (void)print(again_words(user, steps->size()));
  const Status done = service::run_steps(*steps, [is_again](const plan::SetupStep& step) {
    if (!is_again) (void)print(cat({step.what, "\n  > ", step_line(step), "\n"}));
  });
  if (!done) return complain(done.error());
  const bool of_all = removes && !arguments.person.empty() && arguments.agent.empty();
  const std::size_t left = of_all ? service::users_of_agents(arguments.person) : 0;
  return print(cat({outcome_of(arguments, user, steps->size()), left > 0 ? left_words(arguments, left) : ""}));
}

}  // namespace hutch::cli
