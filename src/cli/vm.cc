// hutch vm.
#include "cli/vm.h"

#include "base/text.h"
#include "cli/output.h"
#include "cli/own_daemon.h"
#include "host/facts.h"
#include "sys/io.h"
#include "tool/value.h"

namespace hutch::cli {

namespace {

int say(const std::string& line) {
  (void)sys::write_all(2, cat({"hutch: ", line, "\n"}));
  return 0;
}

int print_status(const service::VmStatus& status, service::OutputForm form) {
  if (form == service::OutputForm::kJson) {
    const tool::Value value = tool::Value::Object{{"provisioned", status.provisioned},
                                                  {"kernel", status.kernel},
                                                  {"made", status.made},
                                                  {"bytes", static_cast<std::int64_t>(status.bytes)},
                                                  {"snapshot", status.snapshot},
                                                  {"directory", status.directory}};
    return print(cat({tool::json_text(value), "\n"}));
  }
  if (!status.provisioned) return print("nothing is provisioned; hutch vm provision\n");
  return print(table({{"kernel", printable(status.kernel)},
                      {"made", status.made},
                      {"root", cat({std::to_string(status.bytes >> 20), "M"})},
                      {"starts", status.snapshot ? "from a machine that was saved" : "from the beginning"},
                      {"directory", printable(status.directory)}}));
}

}  // namespace

int vm(const VmArguments& arguments) {
  const auto facts = host::probe_facts();
  if (!facts) return complain(facts.error());
  if (arguments.action == "remove") {
    const Status removed = service::remove_vm(*facts);
    return removed ? 0 : complain(removed.error());
  }
  if (arguments.action == "provision") {
    const Status made = service::provision_vm(arguments.provision, *facts, say);
    if (!made) return complain(made.error());
  }
  const auto status = service::vm_status(*facts);
  return status ? print_status(*status, arguments.form) : complain(status.error());
}

}  // namespace hutch::cli
