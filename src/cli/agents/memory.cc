// hutch memory.
#include "cli/agents/memory.h"

#include "base/text.h"
#include "cli/terminal/output.h"
#include "cli/terminal/own_daemon.h"
#include "store/memories.h"
#include "sys/io.h"

namespace hutch::cli {

namespace {

using client::Value;

constexpr std::size_t kShownMemoryBytes = 400;

// What programs of a sandbox wrote is shown with its control characters visible.
int print_memories(const Value& memories) {
  std::vector<std::vector<std::string>> rows = {{"ID", "CREATED", "FROM", "CONTENT"}};
  const auto* list = memories.get<Value::List>();
  if (list == nullptr || list->empty()) return print("nothing is remembered of that\n");
  for (const Value& one : *list) {
    rows.push_back({std::to_string(number_in(one, "id")), text_in(one, "created"), text_in(one, "source"),
                    printable(text_in(one, "content"), kShownMemoryBytes)});
  }
  return print(table(rows));
}

Result<Value> call_memory(const MemoryArguments& arguments) {
  Value::Object object{{"agent", arguments.agent}};
  if (arguments.action == "remove") object["id"] = arguments.id;
  if (arguments.action == "query") object["query"] = arguments.text;
  if (arguments.action == "add") {
    std::string text = arguments.text;
    if (text == "-") text = TRY_CTX(sys::read_to_end(0, store::kMemoryBytesMax), "read standard input");
    object["content"] = std::move(text);
  }
  auto daemon = TRY(own_daemon());
  return daemon.call(cat({"memory.", arguments.action}), std::move(object));
}

}  // namespace

int memory(const MemoryArguments& arguments) {
  const auto result = call_memory(arguments);
  if (!result) return complain(result.error());
  if (arguments.form == service::OutputForm::kJson) return print(tool::json_text(*result) + "\n");
  if (arguments.action == "query") return print_memories(*result);
  if (arguments.action == "add") return print(cat({std::to_string(number_in(*result, "id")), "\n"}));
  const std::string id = std::to_string(arguments.id);
  return print(truth_in(*result, "removed") ? cat({"removed ", id, "\n"}) : cat({"there was no ", id, "\n"}));
}

}  // namespace hutch::cli
