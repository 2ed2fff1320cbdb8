// hutch init and deinit.
#include "cli/init.h"

#include "base/text.h"
#include "cli/output.h"
#include "service/init.h"
#include "service/person_setup.h"
#include "sys/identity.h"

namespace hutch::cli {

namespace {

bool is_init(const InitArguments& arguments) { return arguments.action == InitArguments::Action::kInit; }

std::string line_of(const plan::SetupStep& step) {
  std::vector<std::string> words;
  for (const std::string& word : step.command) words.push_back(shell_word(word));
  return join(words, " ");
}

// What to type instead.
std::string with_sudo(const InitArguments& arguments) {
  const std::string agent = arguments.agent.empty() ? "" : cat({" --agent ", arguments.agent});
  const std::string person = arguments.person.empty() ? "" : cat({" --for ", arguments.person});
  const bool removes = arguments.homes == plan::Homes::kRemoved;
  return cat({"sudo hutch ", is_init(arguments) ? "init" : "deinit", person, agent, removes ? " --remove-homes" : ""});
}

Result<std::vector<plan::SetupStep>> steps_of(const InitArguments& arguments, const std::string& user) {
  if (arguments.person.empty()) {
    return is_init(arguments) ? service::init_plan(user) : service::deinit_plan(user, arguments.homes);
  }
  return is_init(arguments) ? service::init_person_plan(arguments.person, arguments.agent)
                            : service::deinit_person_plan(arguments.person, arguments.agent, arguments.homes);
}

std::string user_of(const InitArguments& arguments) {
  if (!arguments.person.empty()) return plan::os_user_name_of(arguments.person, arguments.agent);
  return arguments.agent.empty() ? std::string(plan::kCommonUser) : plan::os_user_name(arguments.agent);
}

}  // namespace

int init(const InitArguments& arguments) {
  const std::string user = user_of(arguments);
  const auto steps = steps_of(arguments, user);
  if (!steps) return complain(steps.error());
  if (arguments.run == InitArguments::Run::kDry) {
    std::string text;
    for (const plan::SetupStep& step : *steps) text += cat({"# ", step.what, "\n", line_of(step), "\n"});
    return print(text);
  }
  if (sys::user_id() != 0) {
    return complain(
        Error{.code = Code::kPermissionDenied, .message = cat({"this takes root: ", with_sudo(arguments)})});
  }
  const Status done = service::run_steps(
      *steps, [](const plan::SetupStep& step) { (void)print(cat({step.what, "\n  > ", line_of(step), "\n"})); });
  if (!done) return complain(done.error());
  if (is_init(arguments)) return print(cat({"The user ", user, " is ready.\n"}));
  return print(steps->empty() ? cat({"There is no user ", user, ".\n"}) : cat({"The user ", user, " is removed.\n"}));
}

}  // namespace hutch::cli
