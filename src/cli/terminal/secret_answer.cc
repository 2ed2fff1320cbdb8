// hutch secret answer.
#include "cli/terminal/secret_answer.h"

#include "base/text.h"
#include "cli/terminal/hidden_line.h"
#include "cli/terminal/output.h"
#include "cli/terminal/own_daemon.h"
#include "secret/sealed_file.h"
#include "secret/secret.h"
#include "sys/process/unwaiting.h"
#include "sys/terminal.h"

namespace hutch::cli {

namespace {

using client::Value;

// What agents and models write is shown with its control characters visible.
std::string question_of(const Value& event) {
  return cat({"\nagent ", text_in(event, "agent"), " asks for ", printable(text_in(event, "name"), 64), "\n  ",
              printable(text_in(event, "description"), 1024), "\n  ", printable(text_in(event, "instructions"), 1024),
              "\nValue (not shown; Ctrl-C declines): "});
}

// The prompt that is open is asked for on a connection of its own: the first one goes on hearing.
Status answer_event(const Value& event) {
  auto daemon = TRY(own_daemon(client::DaemonClient::Start::kNever));
  auto value = read_hidden_line(question_of(event), secret::kValueBytesMax);
  if (!value && value.error().code == Code::kUnsupported) return fail(value.error());
  const Status checked = value ? secret::check_value(*value) : Status();
  if (!value || !checked) {
    if (!checked) TRY(sys::write_until_told(2, cat({"hutch: ", checked.error().message, "\n"})));
    TRY(daemon.call("secret.decline", {{"id", text_in(event, "id")}}));
    return sys::write_until_told(2, "declined\n");
  }
  const auto kept =
      daemon.call("secret.answer", {{"id", text_in(event, "id")}, {"value", wire::text_of_bytes(*value)}});
  secret::wipe(*value);
  if (!kept) return sys::write_until_told(2, cat({"hutch: ", kept.error().message, "\n"}));
  return sys::write_until_told(2, "kept\n");
}

}  // namespace

int secret_answer() {
  // Found out now, not when an agent has asked and waits.
  if (const auto terminal = sys::open_own_terminal(); !terminal) {
    return complain(Error::unsupported(
        "there is no terminal to ask on: hutch secret set NAME reads the value from standard input, or from --file"));
  }
  auto daemon = own_daemon();
  if (!daemon) return complain(daemon.error());
  const auto on_event = [](const Value& event) -> Status {
    const std::string kind = text_in(event, "kind");
    // Said once the daemon knows of it: an agent that asks from now on finds somebody.
    if (kind == "attending") return sys::write_until_told(2, "waiting for agents to ask for secrets; Ctrl-C ends it\n");
    return kind == "asked" ? answer_event(event) : Status();
  };
  const auto ended = daemon->call("secret.attend", {}, on_event);
  return ended ? 0 : complain(ended.error());
}

}  // namespace hutch::cli
