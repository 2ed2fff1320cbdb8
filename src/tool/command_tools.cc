// The tools that run commands, install packages, and those of secrets and plugins, as a model is told of them.
#include <algorithm>

#include "tool/handlers.h"
#include "tool/table.h"

namespace hutch::tool {

namespace {

Parameter cwd();
Parameter timeout(std::string_view description);
Parameter packages();
std::vector<Field> install_fields();
bool is_process_id(std::string_view text);
bool is_key(std::string_view text);
bool is_plugin_id(std::string_view text);
Tool exec_tool();
Tool background_tool();
Tool process_tool();
Tool run_script_tool();
Tool install_tool();
Tool pip_tool();
Tool npm_tool();
Tool secret_check_tool();
Tool secret_set_tool();
Tool plugin_tool();
Tool opencode_tool();

}  // namespace

std::vector<Tool> command_tools() {
  return {exec_tool(), background_tool(),   process_tool(),    run_script_tool(), install_tool(), pip_tool(),
          npm_tool(),  secret_check_tool(), secret_set_tool(), plugin_tool(),     opencode_tool()};
}

namespace {

Tool exec_tool() {
  return {
      .name = "sandbox_exec",
      .title = "Run a command",
      .description =
          "Run a command line in the sandbox with its shell (bash, or sh where there is no bash) and wait for "
          "its end. An exit code other than 0 is a result, not a failure. stdin is empty. Long output is "
          "cut in its middle: 50000 characters of stdout and 10000 of stderr are kept. After `timeout` "
          "seconds the command is ended with everything it started, and the failure holds what it printed. "
          "Commands in one turn are counted: chain steps with `&&`. For servers and long jobs use "
          "`sandbox_exec_background`.",
      .kind = Class::kExec,
      .parameters = {{.name = "command", .description = "The command line.", .presence = Presence::kRequired},
                     cwd(),
                     timeout("Seconds until it is ended (1 to 300); without it what the agent's record says, usually "
                             "30.")},
      .results = {{"stdout", Type::kText, "What it printed."},
                  {"stderr", Type::kText, "What it printed as errors."},
                  {"exit_code", Type::kInteger, "0 to 255; 127: not found, 128+n: ended by signal n."},
                  {"cwd", Type::kText, "Where it ran, absolute."}},
      .handler = execute};
}

Tool background_tool() {
  return {
      .name = "sandbox_exec_background",
      .title = "Start a command in the background",
      .description =
          "Start a command line in the sandbox and come back at once: for servers, watchers and long jobs. "
          "All of the line is one process with an id. `sandbox_process` reads its output, waits for it "
          "and ends it.",
      .kind = Class::kExec,
      .parameters = {{.name = "command", .description = "The command line.", .presence = Presence::kRequired}, cwd()},
      .results = {{"pid", Type::kText, "Its id, for `sandbox_process`."},
                  {"log_file", Type::kText, "The file of its output, absolute; empty when there is none."},
                  {"cwd", Type::kText, "Where it runs, absolute."}},
      .handler = execute_in_background};
}

Tool process_tool() {
  return {.name = "sandbox_process",
          .title = "Look after a background process",
          .description =
              "Look after a process that `sandbox_exec_background` started. `poll` says whether it runs and "
              "shows the end of its output; `wait` waits up to `timeout` seconds for its end and leaves it "
              "running if that does not come; `kill` ends it with everything it started (SIGTERM, with "
              "`force` SIGKILL).",
          .kind = Class::kExec,
          .parameters =
              {{.name = "action",
                .description = "What to do.",
                .presence = Presence::kRequired,
                .choices = {"poll", "wait", "kill"}},
               {.name = "pid",
                .description = "The process, as `sandbox_exec_background` named it.",
                .expected = "a pid that sandbox_exec_background gave",
                .presence = Presence::kRequired,
                .pattern = {"^[A-Za-z0-9._-]{1,64}$", is_process_id}},
               {.name = "timeout",
                .type = Type::kInteger,
                .description = "For `wait`: seconds (1 to 300).",
                .minimum = 1,
                .maximum = 300,
                .fallback = std::int64_t{60}},
               {.name = "tail_lines",
                .type = Type::kInteger,
                .description = "How many of the last lines of its output to show (0 to 200).",
                .minimum = 0,
                .maximum = 200,
                .range = Range::kClamped,
                .fallback = std::int64_t{40}},
               {.name = "force", .type = Type::kBoolean, .description = "For `kill`: SIGKILL.", .fallback = false}},
          .results = {{"pid", Type::kText, "The process."},
                      {"alive", Type::kBoolean, "poll: whether it runs.", Presence::kOptional},
                      {"exited", Type::kBoolean, "wait: whether it has ended.", Presence::kOptional},
                      {"timed_out", Type::kBoolean, "wait: whether it still runs.", Presence::kOptional},
                      {"exit_code", Type::kInteger, "poll, wait: how it ended.", Presence::kOptional},
                      {"log_file", Type::kText, "poll, wait: the file of its output, or empty.", Presence::kOptional},
                      {"log_tail", Type::kText, "poll, wait: the end of its output.", Presence::kOptional},
                      {"killed", Type::kBoolean, "kill: false when it had ended before.", Presence::kOptional},
                      {"signal", Type::kText, "kill: what was sent.", Presence::kOptional}},
          .handler = control_process};
}

Tool run_script_tool() {
  return {
      .name = "sandbox_run_script",
      .title = "Run a script",
      .description =
          "Run a script in the sandbox: its text in `script`, or a file of the sandbox in `path`. The "
          "interpreter is `language`, else what the `#!` line names, else what the file's extension "
          "says. An exit code other than 0 is a result, not a failure. Better than `sandbox_exec` for "
          "more than a few lines: nothing has to be quoted.",
      .kind = Class::kExec,
      .parameters = {{.name = "script", .description = "The text of the script.", .bytes_max = wire::kFileChunkBytes},
                     {.name = "path",
                      .description = "A script that is there, instead of `script`.",
                      .expected = "path under the agent home, or absolute below an allowed directory",
                      .empty = Empty::kAllowed,
                      .nul = Nul::kAllowed},
                     {.name = "language",
                      .description = "What runs it; without it it is found out.",
                      .choices = {"python", "node", "bash", "sh"}},
                     cwd(),
                     timeout("Seconds until it is ended (1 to 300; 60).")},
      .results = {{"stdout", Type::kText, "What it printed."},
                  {"stderr", Type::kText, "What it printed as errors."},
                  {"combined", Type::kText, "stdout, then stderr."},
                  {"exit_code", Type::kInteger, "0 to 255; 127: not found, 128+n: ended by signal n."},
                  {"language", Type::kText, "What ran it."},
                  {"cwd", Type::kText, "Where it ran, absolute."}},
      .handler = run_script};
}

Tool install_tool() {
  return {
      .name = "sandbox_install",
      .title = "Install system packages",
      .description =
          "Install system packages in the sandbox, as root of the sandbox alone, with the package manager "
          "that it has: apk, apt-get or dnf. It sees nothing of the project, and what a package starts ends with it. "
          "In a container or a virtual machine the sandbox starts anew with what was installed, so nothing may run in "
          "it meanwhile. "
          "`unavailable` where the sandbox shows the machine's own system; the message names the command that changes "
          "this. With apt-get, names of Alpine's packages (`py3-pip`) are translated, and a warning says so.",
      .kind = Class::kExec,
      .parameters = {packages()},
      .results = install_fields(),
      .handler = install_packages};
}

Tool pip_tool() {
  return {.name = "sandbox_pip_install",
          .title = "Install Python packages",
          .description =
              "Install Python packages from the index that pip is configured for, into the agent's virtual "
              "environment (`~/.venv`, made when it is missing). Commands and scripts find it by themselves.",
          .kind = Class::kExec,
          .parameters = {packages()},
          .results = install_fields(),
          .handler = install_with_pip};
}

Tool npm_tool() {
  return {.name = "sandbox_npm_install",
          .title = "Install Node.js packages",
          .description =
              "Install Node.js packages from the registry that npm is configured for, into the agent's home "
              "(`~/node_modules`).",
          .kind = Class::kExec,
          .parameters = {packages()},
          .results = install_fields(),
          .handler = install_with_npm};
}

Tool secret_check_tool() {
  return {.name = "sandbox_secret_check",
          .title = "Check for a secret",
          .description =
              "Say whether the agent has a secret of this name, and how a command uses it. Its value is never shown.",
          // It changes nothing, but an agent that may only read has no business with the names of secrets.
          .kind = Class::kWrite,
          .parameters = {{.name = "key",
                          .description = "The secret's name.",
                          .expected = "a name such as OPENAI_API_KEY",
                          .presence = Presence::kRequired,
                          .pattern = {"^[A-Za-z_][A-Za-z0-9_]{0,127}$", is_key}}},
          .results = {{"key", Type::kText, "As given."},
                      {"exists", Type::kBoolean, "Whether there is one."},
                      {"use", Type::kText, "How a command uses it.", Presence::kOptional}},
          .handler = check_secret};
}

Tool secret_set_tool() {
  return {
      .name = "sandbox_secret_set",
      .title = "Store a secret",
      .description =
          "Store a secret for the agent. Leave `value` out to have the user asked for it, so that it never "
          "passes through the conversation: that is the better way. `use` of the answer says how a command uses the "
          "secret: usually with `$(hutch-host secrets get KEY)`, or as the variable KEY. Do not print the value.",
      .kind = Class::kWrite,
      .parameters = {{.name = "key",
                      .description = "The secret's name.",
                      .expected = "a name such as OPENAI_API_KEY",
                      .presence = Presence::kRequired,
                      .pattern = {"^[A-Za-z_][A-Za-z0-9_]{0,127}$", is_key}},
                     {.name = "description", .description = "What it is for.", .presence = Presence::kRequired},
                     {.name = "instructions", .description = "How the user gets one.", .presence = Presence::kRequired},
                     {.name = "value", .description = "The value, if it is known already.", .empty = Empty::kAllowed}},
      .results = {{"stored", Type::kBoolean, "True."},
                  {"key", Type::kText, "As given."},
                  {"use", Type::kText, "How a command uses it.", Presence::kOptional}},
      .handler = set_secret};
}

Tool plugin_tool() {
  return {.name = "sandbox_plugin_register",
          .title = "Register a plugin",
          .description =
              "Register the plugin that the agent has written to `~/plugins/PLUGIN_ID`, with its plugin.json, "
              "so that its tools can be called, as PLUGIN_ID_TOOL. Its text files are packaged with it; binary "
              "files are refused. Registering again replaces it.",
          .kind = Class::kExec,
          .parameters = {{.name = "plugin_id",
                          .description = "The name of its directory.",
                          .expected = "the name of a directory below ~/plugins",
                          .presence = Presence::kRequired,
                          .pattern = {"^[a-z0-9][a-z0-9._-]{0,63}$", is_plugin_id}}},
          .results = {{"plugin_id", Type::kText, "As given."},
                      {"plugin_name", Type::kText, "Its name."},
                      {"tools", Type::kObjects, "Its tools, each with name and description."}},
          .handler = register_plugin};
}

Tool opencode_tool() {
  return {
      .name = "opencode",
      .title = "Give a task to a coding agent",
      .description =
          "Have the coding agent that the user has configured for this sandbox do a task, and wait for its end. It "
          "works where commands do, and sees nothing of this conversation: say all that it needs. Files that were "
          "changed meanwhile are listed, by path from the working directory; an exit code other than 0 is a result, "
          "not a failure. After `timeout` seconds it is ended with everything it started. One task runs at a time: "
          "more wait for it.",
      .kind = Class::kExec,
      .parameters = {{.name = "task", .description = "What is to be done.", .presence = Presence::kRequired},
                     {.name = "timeout",
                      .type = Type::kInteger,
                      .description = "Seconds until it is ended (1 to 3600); without it what is configured, usually "
                                     "300.",
                      .minimum = 1,
                      .maximum = 3600}},
      .results = {{"task_id", Type::kText, "For the user: `hutch task show`."},
                  {"stdout", Type::kText, "What it printed."},
                  {"stderr", Type::kText, "What it printed as errors."},
                  {"exit_code", Type::kInteger, "0 to 255; 127: not found, 128+n: ended by signal n."},
                  {"files_changed", Type::kObjects,
                   "Each with path, change (added, modified or deleted) and, of a directory that stands for what is "
                   "below it, files."},
                  {"files_changed_count", Type::kInteger, "With those that are not listed."},
                  {"files_truncated", Type::kBoolean, "Whether not all is listed, or not all could be looked at."}},
      .handler = run_coding_agent};
}

Parameter cwd() {
  return {.name = "cwd",
          .description = "The directory to run in; without it the working directory.",
          .expected = "path under the agent home, or absolute below an allowed directory",
          .empty = Empty::kAllowed,
          .nul = Nul::kAllowed};
}

Parameter timeout(std::string_view description) {
  return {.name = "timeout", .type = Type::kInteger, .description = description, .minimum = 1, .maximum = 300};
}

Parameter packages() {
  return {.name = "packages",
          .type = Type::kTexts,
          .description = "The names, each with a version where the manager knows a way to write it.",
          .presence = Presence::kRequired};
}

std::vector<Field> install_fields() {
  return {{"installed", Type::kTexts, "The names, as the package manager has them."},
          {"exit_code", Type::kInteger, "0."},
          {"output", Type::kText, "What the package manager printed, cut to 20000 characters."}};
}

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_mark(char c) { return c == '.' || c == '_' || c == '-'; }

bool is_process_id(std::string_view text) {
  return text.size() <= 64 &&
         std::ranges::all_of(text, [](char c) { return is_lower(c) || is_upper(c) || is_digit(c) || is_mark(c); });
}

bool is_key(std::string_view text) {
  return text.size() <= 128 && !is_digit(text.front()) &&
         std::ranges::all_of(text, [](char c) { return is_lower(c) || is_upper(c) || is_digit(c) || c == '_'; });
}

bool is_plugin_id(std::string_view text) {
  return text.size() <= 64 && !is_mark(text.front()) &&
         std::ranges::all_of(text, [](char c) { return is_lower(c) || is_digit(c) || is_mark(c); });
}

}  // namespace

}  // namespace hutch::tool
