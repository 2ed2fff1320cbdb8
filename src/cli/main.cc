// The program hutch: reads the command line and hands each verb to its file.
#include <string>
#include <variant>
#include <vector>

#include "cli/agents/agent.h"
#include "cli/agents/artifacts.h"
#include "cli/agents/clients.h"
#include "cli/agents/exec.h"
#include "cli/agents/mcp.h"
#include "cli/agents/mcp_install.h"
#include "cli/agents/memory.h"
#include "cli/agents/plugin.h"
#include "cli/agents/pool.h"
#include "cli/agents/process.h"
#include "cli/agents/secret.h"
#include "cli/agents/share.h"
#include "cli/agents/task.h"
#include "cli/agents/tool.h"
#include "cli/machine/audit.h"
#include "cli/machine/check.h"
#include "cli/machine/config.h"
#include "cli/machine/daemon.h"
#include "cli/machine/doctor.h"
#include "cli/machine/events.h"
#include "cli/machine/explain.h"
#include "cli/machine/image.h"
#include "cli/machine/init.h"
#include "cli/machine/log.h"
#include "cli/machine/paths.h"
#include "cli/machine/questions.h"
#include "cli/machine/run.h"
#include "cli/machine/selftest.h"
#include "cli/machine/settings.h"
#include "cli/machine/status.h"
#include "cli/machine/vm.h"
#include "cli/machine/why.h"
#include "cli/options/arguments.h"
#include "cli/options/completion.h"
#include "cli/options/help.h"
#include "cli/terminal/output.h"
#include "sys/io.h"
#include "sys/process/readiness.h"

namespace hutch::cli {

namespace {

struct Dispatch {
  int operator()(const service::RunRequest& request) const { return run(request); }
  int operator()(const ExplainArguments& arguments) const {
    return explain(arguments.place, arguments.form, arguments.names);
  }
  int operator()(const CheckArguments& arguments) const {
    return check(arguments.place, arguments.form, arguments.access, arguments.target);
  }
  int operator()(const DoctorArguments& arguments) const { return doctor(arguments); }
  int operator()(const SelftestArguments& arguments) const { return selftest(arguments); }
  int operator()(const LogArguments& arguments) const { return log(arguments); }
  int operator()(const WhyArguments& arguments) const { return why(arguments); }
  int operator()(const AuditArguments& arguments) const { return audit(arguments); }
  int operator()(const QuestionsArguments& arguments) const { return questions(arguments); }
  int operator()(const AnswerArguments& arguments) const { return answer(arguments); }
  int operator()(const RevokeArguments& arguments) const { return revoke(arguments); }
  int operator()(const AgentArguments& arguments) const { return agent(arguments); }
  int operator()(const ExecArguments& arguments) const { return exec(arguments); }
  int operator()(const ProcessArguments& arguments) const { return process(arguments); }
  int operator()(const ToolArguments& arguments) const { return tool(arguments); }
  int operator()(const ArtifactsArguments& arguments) const { return artifacts(arguments); }
  int operator()(const McpArguments& arguments) const {
    return arguments.action.empty() ? mcp(arguments) : mcp_install(arguments);
  }
  int operator()(const ServeArguments& arguments) const { return serve(arguments); }
  int operator()(const ImageArguments& arguments) const { return image(arguments); }
  int operator()(const VmArguments& arguments) const { return vm(arguments); }
  int operator()(const TaskArguments& arguments) const { return task(arguments); }
  int operator()(const PoolArguments& arguments) const { return pool(arguments); }
  int operator()(const DaemonArguments& arguments) const { return daemon(arguments); }
  int operator()(const service::ConfigRequest& request) const { return config(request); }
  int operator()(const service::SettingsRequest& request) const { return settings(request); }
  int operator()(const StatusArguments& arguments) const { return status(arguments); }
  int operator()(const ShareArguments& arguments) const { return share(arguments); }
  int operator()(const EventsArguments& arguments) const { return events(arguments); }
  int operator()(const MemoryArguments& arguments) const { return memory(arguments); }
  int operator()(const PluginArguments& arguments) const { return plugin(arguments); }
  int operator()(const SkillArguments& arguments) const { return skill(arguments); }
  int operator()(const SecretArguments& arguments) const { return secret(arguments); }
  int operator()(const InitArguments& arguments) const { return init(arguments); }
  int operator()(const ClientsArguments& arguments) const { return clients(arguments); }
  int operator()(const PathsArguments& arguments) const { return paths(arguments); }
  int operator()(const CompletionArguments& arguments) const { return print(completion_script(arguments.shell)); }
  int operator()(const HelpArguments& arguments) const { return print(help_text(arguments.verb)); }
  int operator()(const VersionArguments&) const { return print("hutch " HUTCH_VERSION "\n"); }
};

int run_program(const std::vector<std::string>& words) {
  // Before the first descriptor of our own, which would take the number of a closed one.
  if (const Status filled = sys::fill_standard_streams(); !filled) return complain(filled.error());
  const Result<Arguments> arguments = parse_arguments(words);
  if (!arguments) return complain(arguments.error());
  return std::visit(Dispatch(), *arguments);
}

}  // namespace

}  // namespace hutch::cli

int main(int argc, char** argv) {
  // The kernel counts a sandbox's descriptors in flight for its user. With a higher limit than a sandbox, hutch can
  // still pass descriptors.
  hutch::sys::raise_descriptor_limit();
  return hutch::cli::run_program({argv + (argc > 0 ? 1 : 0), argv + argc});
}
