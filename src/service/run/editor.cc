// A text in the user's editor.
#include "service/run/editor.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/limits.h"
#include "base/text.h"
#include "sys/files/beneath.h"
#include "sys/files/files.h"
#include "sys/files/journal.h"
#include "sys/files/tree.h"
#include "sys/files/whole_file.h"
#include "sys/io.h"
#include "sys/process/process.h"

namespace hutch::service {

namespace {

Status run_editor(const EditTask& task, const std::string& path);
std::string environment_variable(const std::vector<std::string>& environment, std::string_view name);
Status check_terminal(const std::string& editor, const std::vector<std::string>& environment);

}  // namespace

Result<EditEnd> edit_text(const EditTask& task) {
  TRY(sys::make_private_directories(task.directory));
  const std::string random = TRY(sys::random_hex(4));
  const std::string beside = cat({task.directory, "/edit-", random, ".json"});
  TRY(sys::replace_file(beside, task.text));
  TRY(run_editor(task, beside));
  const std::string text = TRY(sys::regular_file_text(beside, limits::kJsonBytesMax));
  if (text == task.text) {
    TRY(sys::unlink_at(sys::kCwd, beside));
    return EditEnd::kUnchanged;
  }
  const Status checked = task.check(text, beside);
  if (!checked) {
    return fail(Error::invalid(cat({checked.error().message, "; nothing was changed, and your text is kept there"})));
  }
  const Status saved = task.save(text);
  if (!saved && saved.error().code == Code::kConflict) {
    return fail(
        {Code::kConflict, 0, cat({"it was changed by somebody else meanwhile; your text is kept in ", beside})});
  }
  TRY(saved);
  TRY(sys::unlink_at(sys::kCwd, beside));
  return EditEnd::kSaved;
}

namespace {

Status run_editor(const EditTask& task, const std::string& path) {
  std::string editor = environment_variable(task.environment, "VISUAL");
  if (editor.empty()) editor = environment_variable(task.environment, "EDITOR");
  if (editor.empty()) editor = "vi";
  if (const Status shown = check_terminal(editor, task.environment); !shown) {
    (void)sys::unlink_at(sys::kCwd, path);
    return shown;
  }
  // As git and others do: the variable is a line for the shell.
  sys::ChildProcess child = TRY(sys::spawn("/bin/sh", {.arguments = {"sh", "-c", cat({editor, " \"$1\""}), "sh", path},
                                                       .environment = task.environment,
                                                       .install = {{0, 0}, {1, 1}, {2, 2}}}));
  const sys::WaitStatus ended = TRY(child.wait());
  if (ended.exited() && ended.exit_code() == 0) return {};
  (void)sys::unlink_at(sys::kCwd, path);
  return fail(Error::invalid(cat({"the editor \"", printable(editor), "\" failed; nothing was changed"})));
}

// An editor of a terminal waits for keys that never come where there is none; others open a window, or are scripts.
Status check_terminal(const std::string& editor, const std::vector<std::string>& environment) {
  static constexpr std::array<std::string_view, 16> kOfTerminal = {"vi",    "vim", "nvim",  "view", "nano", "pico",
                                                                   "emacs", "ed",  "micro", "joe",  "jed",  "mg",
                                                                   "ne",    "hx",  "helix", "kak"};
  if (sys::stream_kind(0) == sys::StreamKind::kTerminal && sys::stream_kind(1) == sys::StreamKind::kTerminal) return {};
  const std::string_view program = std::string_view(editor).substr(0, editor.find(' '));
  const std::string_view name = program.substr(program.rfind('/') + 1);
  const bool has_window = name == "emacs" && (!environment_variable(environment, "DISPLAY").empty() ||
                                              !environment_variable(environment, "WAYLAND_DISPLAY").empty());
  if (has_window || std::ranges::find(kOfTerminal, name) == kOfTerminal.end()) return {};
  return fail(Error::unsupported(
      cat({"no terminal here for the editor \"", printable(editor),
           "\"; name one that needs none by VISUAL or EDITOR, or use the verb's words that take a file or a value"})));
}

std::string environment_variable(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& entry : environment) {
    if (entry.starts_with(cat({name, "="}))) return entry.substr(name.size() + 1);
  }
  return {};
}

}  // namespace

}  // namespace hutch::service
