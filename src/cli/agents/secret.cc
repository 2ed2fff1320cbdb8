// hutch secret.
#include "cli/agents/secret.h"

#include "base/text.h"
#include "cli/terminal/hidden_line.h"
#include "cli/terminal/output.h"
#include "cli/terminal/own_daemon.h"
#include "cli/terminal/secret_answer.h"
#include "secret/sealed_file.h"
#include "secret/sealed_key.h"
#include "secret/secret.h"
#include "service/agent/secrets.h"
#include "sys/files/tree.h"
#include "sys/io.h"
#include "sys/process/host_info.h"
#include "sys/process/unwaiting.h"

namespace hutch::cli {

namespace {

using client::Value;

constexpr int kAbsent = 1;

std::string joined_texts(const Value* list) {
  std::vector<std::string> texts;
  const auto* all = list != nullptr ? list->get<Value::List>() : nullptr;
  for (const Value& one : all != nullptr ? *all : Value::List()) {
    if (const auto* text = one.get<std::string>()) texts.push_back(*text);
  }
  return join(texts, ",");
}

std::string shown_agent(const std::string& agent) {
  return agent == service::kOwnSecrets ? std::string("hutch itself") : cat({"agent ", agent});
}

int print_secrets(const Value& secrets) {
  std::vector<std::vector<std::string>> rows = {{"AGENT", "NAME", "VIA", "HOSTS", "SET"}};
  const auto* list = secrets.get<Value::List>();
  if (list == nullptr || list->empty()) return print("no secrets; hutch secret set NAME keeps one\n");
  for (const Value& one : *list) {
    rows.push_back({shown_agent(text_in(one, "agent")), text_in(one, "name"), text_in(one, "via"),
                    joined_texts(member_of(one, "hosts")), text_in(one, "set")});
  }
  return print(table(rows));
}

// A file's last line end, and that of `echo`, is no part of a value.
std::string without_line_end(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

Result<std::string> secret_value(const SecretArguments& arguments) {
  const std::size_t most = secret::kValueBytesMax + 2;
  if (!arguments.file.empty() && arguments.file != "-") {
    return without_line_end(TRY_CTX(sys::regular_file_text(arguments.file, most), "--file"));
  }
  if (arguments.file.empty() && sys::stream_kind(0) == sys::StreamKind::kTerminal) {
    return read_hidden_line(cat({"Value of ", printable(arguments.name, 64), " (not shown): "}), most);
  }
  return without_line_end(TRY_CTX(sys::read_to_end(0, most), "read the value from standard input"));
}

Result<Value> call_secret(client::DaemonClient& daemon, const SecretArguments& arguments) {
  Value::List hosts(arguments.hosts.begin(), arguments.hosts.end());
  if (arguments.action == "key") return daemon.call("secret.key", Value::Object{{"place", arguments.name}});
  Value::Object object{{"name", arguments.name}, {"via", arguments.via}, {"hosts", std::move(hosts)}};
  if (arguments.agent.empty()) {
    object["directory"] = TRY(sys::working_directory());
  } else {
    object["agent"] = arguments.agent;
  }
  if (arguments.action != "set") return daemon.call(cat({"secret.", arguments.action}), std::move(object));
  // What is wrong with the rest is said before anybody types a value.
  TRY(secret::check_name(arguments.name));
  std::string value = TRY(secret_value(arguments));
  TRY(secret::check_value(value));
  object["value"] = wire::text_of_bytes(value);
  secret::wipe(value);
  return daemon.call("secret.set", std::move(object));
}

}  // namespace

int secret(const SecretArguments& arguments) {
  if (arguments.action == "answer") return secret_answer();
  auto daemon = own_daemon();
  if (!daemon) return complain(daemon.error());
  const auto result = call_secret(*daemon, arguments);
  if (!result) return complain(result.error());
  const bool json = arguments.form == service::OutputForm::kJson;
  const bool there = arguments.action != "check" || truth_in(*result, "exists");
  if (json) {
    const int printed = print(tool::json_text(*result) + "\n");
    return printed != 0 || there ? printed : kAbsent;
  }
  if (arguments.action == "list") return print_secrets(*result);
  if (arguments.action == "key") {
    const bool in_file = text_in(*result, "key") == secret::name_of(secret::KeyPlace::kFile);
    return print(in_file ? "the key of the secrets is in a file beside them\n"
                         : "the key of the secrets is in the Secret Service of your session\n");
  }
  const std::string agent = shown_agent(text_in(*result, "agent"));
  if (arguments.action == "set") {
    if (truth_in(*result, "at_next_start")) {
      const std::string stop = cat({"hutch agent stop ", text_in(*result, "agent")});
      (void)sys::write_until_told(2, cat({"hutch: the sandbox runs, and has it from its next start on; ", stop, "\n"}));
    }
    return print(cat({"kept ", arguments.name, " for ", agent, ", given by ", text_in(*result, "via"), "\n"}));
  }
  if (arguments.action == "remove") {
    return print(truth_in(*result, "removed") ? cat({"removed ", arguments.name, " of ", agent, "\n"})
                                              : cat({agent, " had no secret ", arguments.name, "\n"}));
  }
  const int printed = print(cat({agent, there ? " has" : " has no", " secret ", printable(arguments.name, 64), "\n"}));
  return printed != 0 || there ? printed : kAbsent;
}

}  // namespace hutch::cli
