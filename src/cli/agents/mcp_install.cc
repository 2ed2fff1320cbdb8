// What would be written is shown before it is.
#include "cli/agents/mcp_install.h"

#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/terminal/consent.h"
#include "cli/terminal/output.h"
#include "cli/terminal/own_daemon.h"
#include "host/machine/facts.h"
#include "service/run/mcp_install.h"
#include "sys/files/tree.h"
#include "sys/io.h"
#include "tool/value.h"

namespace hutch::cli {

namespace {

using service::McpChange;

std::string_view state_words(service::McpClientRow::State state) {
  using enum service::McpClientRow::State;
  switch (state) {
    case kNoFile: return "no file";
    case kWithout: return "without hutch";
    case kWith: return "with hutch";
    case kUnreadable: break;
  }
  return "cannot be read";
}

int list_clients(const McpArguments& arguments, const plan::HostFacts& facts) {
  const auto rows = service::list_mcp_clients(facts, sys::own_environment());
  if (!rows) return complain(rows.error());
  tool::Value::List all;
  std::vector<std::vector<std::string>> lines = {{"CLIENT", "", "", "FILE"}};
  for (const auto& row : *rows) {
    const std::string state(state_words(row.state));
    lines.push_back({row.client, row.about, state, printable(row.file)});
    tool::Value::Object object{{"client", row.client}, {"name", row.about}, {"state", state}, {"file", row.file}};
    all.emplace_back(std::move(object));
  }
  if (arguments.form == service::OutputForm::kText) return print(table(lines));
  return print(cat({tool::json_text(tool::Value(std::move(all))), "\n"}));
}

int say_done(const McpArguments& arguments, const McpChange& change, std::string_view done) {
  if (arguments.form == service::OutputForm::kText) return print(cat({done, ": ", printable(change.file), "\n"}));
  const tool::Value value =
      tool::Value::Object{{"client", change.client}, {"file", change.file}, {"changed", change.before != change.after}};
  return print(cat({tool::json_text(value), "\n"}));
}

Status change_it(const McpArguments& arguments, const McpChange& change) {
  const bool removes = arguments.action == "remove";
  const std::string shown =
      removes ? cat({"the entry of hutch goes from ", printable(change.file), "\n"})
              : cat({change.there ? "into " : "into the new file ", printable(change.file), ":\n", change.entry});
  if (arguments.consent != McpArguments::Consent::kGiven) {
    TRY(ask_consent(
        {.what = shown, .question = "Write it?", .option = "--yes writes it", .declined = "nothing was written"}));
  }
  return service::apply_mcp_change(change);
}

}  // namespace

int mcp_install(const McpArguments& arguments) {
  const auto facts = host::probe_facts();
  if (!facts) return complain(facts.error());
  if (arguments.action == "list") return list_clients(arguments, *facts);
  const bool removes = arguments.action == "remove";
  const service::McpInstallRequest request{arguments.client, arguments.scope, arguments.agent};
  const auto change = removes ? service::plan_mcp_remove(request, *facts, sys::own_environment())
                              : service::plan_mcp_install(request, *facts, sys::own_environment());
  if (!change) return complain(change.error());
  if (arguments.consent == McpArguments::Consent::kShow) return print(change->entry);
  if (change->before == change->after) {
    return say_done(arguments, *change, removes ? "was not there" : "is there already");
  }
  const Status changed = change_it(arguments, *change);
  if (!changed) return complain(changed.error());
  return say_done(arguments, *change, removes ? "removed" : "written");
}

}  // namespace hutch::cli
