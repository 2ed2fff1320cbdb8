// hutch artifacts: the list, and a file that is what was shared or is not there.
#include "cli/agents/artifacts.h"

#include "base/text.h"
#include "cli/terminal/output.h"
#include "cli/terminal/own_daemon.h"
#include "sys/files/beneath.h"
#include "sys/files/create.h"
#include "sys/files/files.h"
#include "sys/files/journal.h"
#include "sys/files/tree.h"
#include "sys/io.h"
#include "wire/daemon.h"

namespace hutch::cli {

namespace {

using client::Value;

constexpr std::size_t kShownArtifactBytes = 400;

// Names and descriptions are of a model's making.
int print_artifacts(const Value& artifacts) {
  const auto* list = artifacts.get<Value::List>();
  if (list == nullptr || list->empty()) return print("nothing was shared\n");
  std::vector<std::vector<std::string>> rows = {{"NAME", "SIZE", "SHARED", "SHA256", "DESCRIPTION"}};
  for (const Value& one : *list) {
    rows.push_back({printable(text_in(one, "name"), kShownArtifactBytes), std::to_string(number_in(one, "size")),
                    text_in(one, "shared"), text_in(one, "sha256").substr(0, 16),
                    printable(text_in(one, "description"), kShownArtifactBytes)});
  }
  return print(table(rows));
}

Result<Value> fetch(const ArtifactsArguments& arguments, int to) {
  auto daemon = TRY(own_daemon());
  return daemon.call("artifacts.get", {{"agent", arguments.agent}, {"name", arguments.name}},
                     [&](const Value& event) -> Status {
                       return sys::write_all(to, TRY(wire::bytes_of_text(text_in(event, "bytes"))));
                     });
}

// A name that a model chose is never the name of a file that is here already, nor of a hidden one.
Result<std::string> file_for(const ArtifactsArguments& arguments) {
  const std::string file = arguments.file.empty() ? arguments.name : arguments.file;
  if (arguments.file.empty() && (file.starts_with('.') || file.starts_with('-'))) {
    const std::string_view what = file.starts_with('.') ? "a hidden file" : "an option to other programs";
    return fail(Error::invalid(cat({"it would be ", what, ": name another: hutch artifacts get ", arguments.agent, " ",
                                    shell_word(arguments.name), " FILE"})));
  }
  if (!TRY(sys::status_of(file))) return file;
  return fail(
      Error{Code::kConflict, 0, cat({printable(file, kShownArtifactBytes), " is there already; name another FILE"})});
}

// Beside its place until it is known to be what was shared.
Result<Value> get_file(const ArtifactsArguments& arguments, std::string& file) {
  file = TRY(file_for(arguments));
  const std::string part = cat({file, ".", TRY(sys::random_hex(8)), ".part"});
  const UniqueFd made = TRY(sys::make_file(sys::kCwd, part, 0666));
  auto fetched = fetch(arguments, made.get());
  const Status placed = fetched ? sys::make_hard_link(sys::kCwd, part, sys::kCwd, file) : Status();
  TRY(sys::unlink_at(sys::kCwd, part));
  if (fetched && !placed) return fail(placed.error());
  return fetched;
}

int get(const ArtifactsArguments& arguments) {
  std::string file = arguments.file;
  const auto fetched = file == "-" ? fetch(arguments, 1) : get_file(arguments, file);
  if (!fetched) return complain(fetched.error());
  if (file == "-") return 0;
  if (arguments.form == service::OutputForm::kJson) return print(tool::json_text(*fetched) + "\n");
  return print(cat({printable(file, kShownArtifactBytes), ": ", std::to_string(number_in(*fetched, "size")),
                    " bytes, sha256 ", text_in(*fetched, "sha256"), "\n"}));
}

}  // namespace

int artifacts(const ArtifactsArguments& arguments) {
  if (arguments.action == "get") return get(arguments);
  auto daemon = own_daemon();
  if (!daemon) return complain(daemon.error());
  const auto list = daemon->call("artifacts.list", {{"agent", arguments.agent}});
  if (!list) return complain(list.error());
  if (arguments.form == service::OutputForm::kJson) return print(tool::json_text(*list) + "\n");
  return print_artifacts(*list);
}

}  // namespace hutch::cli
