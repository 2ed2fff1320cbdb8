// hutch events.
#include "cli/machine/events.h"

#include "base/text.h"
#include "cli/terminal/output.h"
#include "cli/terminal/own_daemon.h"
#include "service/common/history.h"
#include "sys/process/unwaiting.h"

namespace hutch::cli {

namespace {

using client::Value;

constexpr std::size_t kShownEventBytes = 400;

// What programs of a sandbox wrote is shown with its control characters visible.
std::string event_line(const Value& event) {
  const Value* payload = member_of(event, "payload");
  const std::string text = payload != nullptr ? tool::json_text(*payload) : std::string();
  return cat(
      {text_in(event, "time"), "  ", printable(text_in(event, "type")), "  ", printable(text, kShownEventBytes), "\n"});
}

}  // namespace

int events(const EventsArguments& arguments) {
  Value::Object call{{"agent", arguments.agent}, {"follow", arguments.follow == Follow::kYes}};
  Value::List types;
  for (const std::string& type : arguments.types) types.emplace_back(type);
  call["types"] = std::move(types);
  auto daemon = own_daemon();
  if (!daemon) return complain(daemon.error());
  const bool as_json = arguments.form == service::OutputForm::kJson;
  const auto show = [&](const Value& event) {
    return sys::write_until_told(1, as_json ? tool::json_text(event) + "\n" : event_line(event));
  };
  const auto told = daemon->call("event.list", std::move(call), show);
  return told ? 0 : complain(told.error());
}

}  // namespace hutch::cli
