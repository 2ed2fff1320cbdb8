// hutch clients list and install.
#include "cli/agents/clients.h"

#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/terminal/output.h"
#include "cli/terminal/own_daemon.h"
#include "host/machine/facts.h"
#include "service/run/npm_clients.h"
#include "sys/files/tree.h"
#include "tool/value.h"

namespace hutch::cli {

namespace {

int list_packages(const ClientsArguments& arguments) {
  const auto rows = service::packed_npm_clients();
  if (!rows) return complain(rows.error());
  tool::Value::List all;
  std::vector<std::vector<std::string>> lines = {{"CLIENT", "PACKAGE", "VERSION", "", "FILE"}};
  for (const service::NpmClientRow& row : *rows) {
    const std::string name(row.client.name);
    const std::string package(row.client.package);
    lines.push_back({name, package, HUTCH_VERSION, std::string(row.client.about), printable(row.file)});
    all.emplace_back(
        tool::Value::Object{{"client", name}, {"package", package}, {"version", HUTCH_VERSION}, {"file", row.file}});
  }
  if (arguments.form == service::OutputForm::kText) return print(table(lines));
  return print(cat({tool::json_text(tool::Value(std::move(all))), "\n"}));
}

}  // namespace

int clients(const ClientsArguments& arguments) {
  if (arguments.action == "list") return list_packages(arguments);
  const auto facts = host::probe_facts();
  if (!facts) return complain(facts.error());
  const auto done = service::install_npm_client(arguments.client, arguments.directory, *facts, sys::own_environment());
  if (!done) return complain(done.error());
  const std::string package(done->client.package);
  if (arguments.form == service::OutputForm::kJson) {
    const tool::Value value =
        tool::Value::Object{{"package", package}, {"version", HUTCH_VERSION}, {"place", done->place}};
    return print(cat({tool::json_text(value), "\n"}));
  }
  const std::string_view next = done->client.name == "pi" ? "; pi has it from its next start on" : "";
  return print(cat({package, " ", HUTCH_VERSION, " is in ", printable(done->place), next, "\n"}));
}

}  // namespace hutch::cli
