// The command line as typed values, one struct for each verb.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "cli/agents/artifacts.h"
#include "cli/agents/clients.h"
#include "cli/agents/pool.h"
#include "cli/agents/share.h"
#include "cli/agents/task.h"
#include "cli/machine/image.h"
#include "cli/machine/init.h"
#include "cli/machine/paths.h"
#include "cli/machine/vm.h"
#include "cli/options/diagnosis_arguments.h"
#include "cli/options/host_arguments.h"
#include "cli/options/mcp_arguments.h"
#include "cli/options/question_arguments.h"
#include "service/common/request.h"
#include "service/run/configure.h"
#include "service/run/settings.h"

namespace hutch::cli {

struct ExplainArguments {
  service::PlaceRequest place;
  service::OutputForm form = service::OutputForm::kText;
  std::vector<std::string> names;  // paths and hosts
};

struct CheckArguments {
  service::PlaceRequest place;
  service::OutputForm form = service::OutputForm::kText;
  std::string access;  // read, write or connect
  std::string target;  // as typed: a path, or a host
};

struct LogArguments {
  service::OutputForm form = service::OutputForm::kText;
  std::size_t count = 20;
  Follow follow = Follow::kNo;
};

struct WhyArguments {
  service::OutputForm form = service::OutputForm::kText;
  std::optional<std::string> run;  // its id; else the last in which something was refused
};

struct AuditArguments {
  service::OutputForm form = service::OutputForm::kText;
  std::optional<std::size_t> count;       // the last so many
  Follow follow = Follow::kNo;
  std::optional<std::chrono::milliseconds> since;  // so long ago
  std::vector<std::string> types;         // start, end, refusal
  std::optional<std::string> run;
  std::string agent;  // empty: all
};

struct AgentArguments {
  std::string action;  // create, list, show, set, allow, deny, install, start, stop, reset, remove
  std::string name;    // empty for list
  std::vector<std::string> settings;  // KEY=VALUE; hosts; packages
  service::OutputForm form = service::OutputForm::kText;
};

enum class Detach { kNo, kYes };
enum class Tty { kNo, kYes };
enum class Input { kLeftOpen, kOwn };  // of a command in the background: for whoever attaches, or all of ours

struct ExecArguments {
  std::string agent;
  std::vector<std::string> command;  // empty: a login shell
  std::vector<std::string> environment;  // "K=V", or "K" for the caller's own
  std::string cwd;
  std::chrono::milliseconds timeout{0};
  Detach detach = Detach::kNo;
  Tty tty = Tty::kNo;
  Input input = Input::kLeftOpen;
  service::OutputForm form = service::OutputForm::kText;
};

struct ProcessArguments {
  std::string action;  // ps, logs, attach, kill, wait
  std::string agent;
  std::string pid;  // empty for ps
  Follow follow = Follow::kNo;
  int signal = 0;  // of kill; 0: TERM, then KILL
  service::OutputForm form = service::OutputForm::kText;
};

struct ToolArguments {
  std::string agent;      // empty: of none in particular
  std::string tool;       // empty: list them
  std::string arguments;  // JSON, or "-" for stdin
  std::string turn;
  service::OutputForm form = service::OutputForm::kText;
};

struct ServeArguments {
  std::optional<std::chrono::milliseconds> idle;  // 0: it stays
  int ready_fd = -1;
  std::string listen;      // ADDRESS:PORT; empty: the Unix socket alone
  std::string token_file;
};

struct DaemonArguments {
  std::string action;  // status, stop
  service::OutputForm form = service::OutputForm::kText;
};

struct StatusArguments {
  enum class Line { kNo, kYes };  // whether it is the one line alone
  service::PlaceRequest place;  // --policy
  service::OutputForm form = service::OutputForm::kText;
  Line line = Line::kNo;
};

struct CompletionArguments {
  std::string shell;  // bash, zsh or fish
};

struct HelpArguments {
  std::string verb;  // empty: all of them
};
struct VersionArguments {};

using Arguments =
    std::variant<service::RunRequest, ExplainArguments, CheckArguments, DoctorArguments, SelftestArguments,
                 LogArguments, WhyArguments, AuditArguments, QuestionsArguments, AnswerArguments, RevokeArguments,
                 AgentArguments, ExecArguments, ProcessArguments, ToolArguments, McpArguments, ServeArguments,
                 DaemonArguments, ImageArguments, VmArguments, PoolArguments, TaskArguments, PathsArguments,
                 service::ConfigRequest, service::SettingsRequest, StatusArguments, ShareArguments, SecretArguments,
                 ArtifactsArguments, EventsArguments, MemoryArguments, PluginArguments, SkillArguments, InitArguments,
                 ClientsArguments, CompletionArguments, HelpArguments, VersionArguments>;

// `words` is what follows the program's own name. Options of hutch end at `--` and, for `run`, at the first word that
// is not one: `hutch run ls -l` gives -l to ls. An error is one line that names the thing and what would be right.
Result<Arguments> parse_arguments(std::span<const std::string> words);

}  // namespace hutch::cli
