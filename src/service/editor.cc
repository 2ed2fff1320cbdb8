// A text in the user's editor.
#include "service/editor.h"

#include <string_view>

#include "base/limits.h"
#include "base/text.h"
#include "sys/beneath.h"
#include "sys/files.h"
#include "sys/journal.h"
#include "sys/process.h"
#include "sys/tree.h"
#include "sys/whole_file.h"

namespace hutch::service {

namespace {

Status run_editor(const EditTask& task, const std::string& path);
std::string environment_variable(const std::vector<std::string>& environment, std::string_view name);

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
  // As git and others do: the variable is a line for the shell.
  sys::ChildProcess child = TRY(sys::spawn("/bin/sh", {.arguments = {"sh", "-c", cat({editor, " \"$1\""}), "sh", path},
                                                       .environment = task.environment,
                                                       .install = {{0, 0}, {1, 1}, {2, 2}}}));
  const sys::WaitStatus ended = TRY(child.wait());
  if (ended.exited() && ended.exit_code() == 0) return {};
  (void)sys::unlink_at(sys::kCwd, path);
  return fail(Error::invalid(cat({"the editor \"", printable(editor), "\" failed; nothing was changed"})));
}

std::string environment_variable(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& entry : environment) {
    if (entry.starts_with(cat({name, "="}))) return entry.substr(name.size() + 1);
  }
  return {};
}

}  // namespace

}  // namespace hutch::service
