// hutch questions, answer and revoke.
#include "cli/machine/questions.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "base/limits.h"
#include "base/printable_name.h"
#include "base/text.h"
#include "cli/terminal/output.h"
#include "cli/terminal/own_daemon.h"
#include "cli/terminal/session.h"
#include "host/daemon_paths.h"
#include "host/machine/facts.h"
#include "sandbox/questions/question_socket.h"
#include "service/live/live_runs.h"
#include "service/live/revoke.h"
#include "sys/files/tree.h"
#include "sys/io.h"
#include "sys/net/local_socket.h"
#include "sys/process/unwaiting.h"

namespace hutch::cli {

namespace {

using client::DaemonClient;
using client::Value;
using service::LiveRun;
using service::OutputForm;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kAnswerWait{5000};
constexpr milliseconds kLookInterval{200};  // for runs that have started since
constexpr std::size_t kShortId = 4;

Result<std::string> runs_directory() { return host::runs_directory(TRY(own_dirs())); }

// One question, with what is to be known of its run.
struct Asked {
  std::string id;  // "RUN.NUMBER"
  Value question;
  Value run;
};

// As short as the others let it be.
std::string short_id(const std::string& run, const std::vector<std::string>& all) {
  for (std::size_t size = kShortId; size < run.size(); ++size) {
    const std::string start = run.substr(0, size);
    const auto same = [&](const std::string& one) { return one != run && one.starts_with(start); };
    if (std::ranges::none_of(all, same)) return start;
  }
  return run;
}

std::string json_line(const Asked& asked) {
  const auto* question = asked.question.get<Value::Object>();
  Value::Object object = question != nullptr ? *question : Value::Object();
  object.erase("v");
  object["id"] = asked.id;
  for (const std::string_view key : {"directory", "command"}) {
    if (const Value* member = member_of(asked.run, key)) object[std::string(key)] = *member;
  }
  if (const Value* pid = member_of(asked.run, "pid")) object["run_pid"] = *pid;
  return tool::json_text(Value(std::move(object))) + "\n";
}

std::string words_in(const Value& object, std::string_view key) {
  const Value* member = member_of(object, key);
  const auto* list = member != nullptr ? member->get<Value::List>() : nullptr;
  std::string words;
  for (const Value& one : list != nullptr ? *list : Value::List()) {
    if (const auto* text = one.get<std::string>()) words += cat({words.empty() ? "" : " ", printable(*text, 60)});
  }
  return words;
}

std::string target_of(const Value& question) {
  const std::string path = text_in(question, "path");
  if (text_in(question, "kind") == "isolation") return cat({"run without isolation: ", printable_name(path)});
  if (!path.empty()) return cat({text_in(question, "kind"), " ", printable_name(path)});
  return cat({text_in(question, "kind"), " ", printable(text_in(question, "host")), ":",
              std::to_string(number_in(question, "port"))});
}

std::string text_line(const Asked& asked) {
  const Value& question = asked.question;
  const std::string program = text_in(question, "exe");
  const std::string seconds = std::to_string(number_in(question, "left_ms") / 1000);
  const std::string who =
      program.empty() ? ""
                      : cat({", by ", printable(program, 60), " (", std::to_string(number_in(question, "pid")), ")"});
  const std::string agent = text_in(question, "agent");
  const std::string where =
      agent.empty() ? cat({printable(text_in(asked.run, "directory"), 120), ": ", words_in(asked.run, "command")})
                    : cat({"agent ", agent});
  return cat({asked.id, "  ", target_of(question), who, ", in ", where, "\n    hutch answer ", asked.id, " CHOICE   (",
              words_in(question, "choices"), "; ", seconds, " s)\n"});
}

std::string shown(const Asked& asked, OutputForm form) {
  return form == OutputForm::kJson ? json_line(asked) : text_line(asked);
}

Result<Value> parse(const std::string& line) { return tool::parse_value(line, limits::kControlLineBytesMax); }

// What is open in it now; nothing where it is gone, or does not answer.
Result<std::vector<Asked>> open_in(LiveRun& run, const std::string& id) {
  const auto until = steady_clock::now() + kAnswerWait;
  std::vector<Asked> all;
  const auto first = TRY(run.line(until));
  if (!first) return all;
  const Value hello = TRY(parse(*first));
  for (std::int64_t left = number_in(hello, "open"); left > 0; --left) {
    const auto line = TRY(run.line(until));
    if (!line) return all;
    Value question = TRY(parse(*line));
    all.push_back({cat({id, ".", text_in(question, "id")}), std::move(question), hello});
  }
  return all;
}

// Of agents' sandboxes, where the daemon runs.
Result<std::vector<Asked>> open_in_daemon() {
  DaemonClient daemon = TRY(own_daemon(DaemonClient::Start::kNever));
  TRY(daemon.limit_wait(kAnswerWait));
  const Value open = TRY(daemon.call("question.list", {}));
  const auto* list = open.get<Value::List>();
  std::vector<Asked> all;
  for (const Value& question : list != nullptr ? *list : Value::List()) {
    all.push_back({text_in(question, "id"), question, Value()});
  }
  return all;
}

int list_questions(OutputForm form) {
  const auto directory = runs_directory();
  if (!directory) return complain(directory.error());
  std::vector<LiveRun> runs = service::live_runs(*directory);
  std::vector<std::string> ids;
  for (const LiveRun& run : runs) ids.push_back(run.id());
  std::string text;
  for (LiveRun& run : runs) {
    const auto open = open_in(run, short_id(run.id(), ids));
    if (!open) continue;
    for (const Asked& asked : *open) text += shown(asked, form);
  }
  if (const auto open = open_in_daemon()) {
    for (const Asked& asked : *open) text += shown(asked, form);
  }
  return print(text);
}

// Every run from its start to its end, and the daemon's agents, until a signal or a reader that has gone ends it.
class Follower {
 public:
  Follower(std::string directory, OutputForm form) : directory_(std::move(directory)), form_(form) {}

  Status follow() {
    TRY(sys::make_private_directories(directory_));
    // A run that starts, and asks before it is found here, waits for whoever holds this.
    const UniqueFd attending = TRY(sys::hold_file(cat({directory_, "/", sandbox::kAttendingFile})));
    for (;;) {
      TRY(find_new());
      std::vector<pollfd> wait = {{daemon_ ? daemon_->fd() : -1, POLLIN, 0}};
      std::vector<std::string> ids = {std::string()};
      for (const auto& [id, watched] : runs_) {
        wait.push_back({watched.run.fd(), POLLIN, 0});
        ids.push_back(id);
      }
      TRY(sys::poll(wait, kLookInterval));
      if (wait[0].revents != 0) TRY(hear_daemon());
      for (std::size_t at = 1; at < wait.size(); ++at) {
        if (wait[at].revents != 0) TRY(hear(ids[at]));
      }
    }
  }

 private:
  struct Watched {
    LiveRun run;
    Value hello{};
  };

  Status find_new() {
    for (LiveRun& run : service::live_runs(directory_)) {
      const std::string id = run.id();
      if (runs_.contains(id)) continue;
      if (run.send("{\"v\":1,\"type\":\"attend\"}\n")) runs_.emplace(id, Watched{std::move(run)});
    }
    if (daemon_) return {};
    auto daemon = own_daemon(DaemonClient::Start::kNever);
    if (daemon && daemon->send("question.follow", {})) daemon_ = std::move(*daemon);
    return {};
  }

  Status hear_daemon() {
    auto answer = daemon_->receive_ready();
    while (answer && *answer) {
      const Value& value = (*answer)->value;
      TRY(show(text_in(value, "id"), value, Value()));
      answer = daemon_->take_buffered();
    }
    // It has ended; another one may come.
    if (!answer) daemon_.reset();
    return {};
  }

  Status hear(const std::string& id) {
    Watched& watched = runs_.at(id);
    LiveRun::Lines lines = watched.run.ready();
    for (const std::string& line : lines.lines) {
      Value value = TRY(parse(line));
      TRY(take(watched, std::move(value)));
    }
    if (lines.ended) runs_.erase(id);
    return {};
  }

  Status take(Watched& watched, Value value) {
    const std::string type = text_in(value, "type");
    if (type == "run") {
      watched.hello = std::move(value);
      return {};
    }
    if (type != "question" && type != "answered") return {};
    return show(cat({watched.run.id(), ".", text_in(value, "id")}), value, watched.hello);
  }

  Status show(const std::string& id, const Value& value, const Value& run) const {
    const std::string type = text_in(value, "type");
    if (type == "question") return sys::write_until_told(1, shown({id, value, run}, form_));
    const std::string choice = text_in(value, "choice");
    const std::string by = printable(text_in(value, "by"));
    if (form_ == OutputForm::kText) return sys::write_until_told(1, cat({id, "  ", choice, ", by ", by, "\n"}));
    const Value line(Value::Object{{"type", type}, {"id", id}, {"choice", choice}, {"by", by}});
    return sys::write_until_told(1, tool::json_text(line) + "\n");
  }

  const std::string directory_;
  const OutputForm form_;
  std::map<std::string, Watched> runs_;
  std::optional<DaemonClient> daemon_;
};

Result<LiveRun> run_of(const std::string& start) {
  std::vector<LiveRun> found;
  for (LiveRun& run : service::live_runs(TRY(runs_directory()))) {
    if (run.id() == start) return std::move(run);
    if (run.id().starts_with(start)) found.push_back(std::move(run));
  }
  if (found.size() == 1) return std::move(found.front());
  const std::string name = printable(start, 64);
  if (found.empty())
    return fail(Error::not_found(cat({"no run ", name, " is going on; hutch questions lists what is open"})));
  return fail(Error::invalid(cat({name, " is the start of several runs; give more of it"})));
}

// An agent's, which the daemon keeps.
Status give_to(DaemonClient daemon, const AnswerArguments& arguments) {
  TRY(daemon.limit_wait(kAnswerWait));
  Value::Object call{{"id", arguments.id}, {"choice", arguments.choice}};
  if (arguments.minutes) call["minutes"] = *arguments.minutes;
  TRY(daemon.call("question.answer", std::move(call)));
  return {};
}

Status give(const AnswerArguments& arguments) {
  const std::size_t dot = arguments.id.rfind('.');
  if (dot == std::string::npos || dot == 0 || dot + 1 == arguments.id.size()) {
    return fail(
        Error::invalid(cat({"\"", printable(arguments.id, 64), "\" is no question's id; hutch questions lists them"})));
  }
  const std::string number = arguments.id.substr(dot + 1);
  auto found = run_of(arguments.id.substr(0, dot));
  if (!found && found.error().code == Code::kNotFound) {
    auto daemon = own_daemon(DaemonClient::Start::kNever);
    return daemon ? give_to(std::move(*daemon), arguments) : fail(std::move(found).error());
  }
  LiveRun run = TRY(std::move(found));
  Value::Object line{{"v", 1}, {"type", "answer"}, {"id", number}, {"choice", arguments.choice}};
  if (arguments.minutes) line["minutes"] = *arguments.minutes;
  TRY(run.send(tool::json_text(Value(std::move(line))) + "\n"));
  const auto until = steady_clock::now() + kAnswerWait;
  for (;;) {
    const auto answer = TRY(run.line(until));
    if (!answer) return fail({Code::kTimeout, 0, "the run has ended, or does not answer"});
    const Value value = TRY(parse(*answer));
    const std::string type = text_in(value, "type");
    if (type == "error") return fail(Error::invalid(printable(text_in(value, "message"))));
    if (type == "accepted") return {};
  }
}

// What the daemon took back.
struct InDaemon {
  std::int64_t sessions = 0;        // answers for sessions
  std::vector<RevokedAgent> agents;  // whose sandboxes had been allowed it
};

std::string revoked_json(const service::Revoked& revoked, const InDaemon& kept) {
  Value::List runs;
  Value::List agents;
  for (const RevokedAgent& one : kept.agents)
    agents.push_back(Value::Object{{"agent", one.name}, {"ended", one.ended}});
  for (const service::RevokedRun& run : revoked.runs) {
    runs.push_back(Value::Object{{"run", run.id},
                                 {"pid", run.pid},
                                 {"grants", run.grants},
                                 {"connections", run.connections},
                                 {"ended", run.ended}});
  }
  Value::Object object{
      {"runs", std::move(runs)}, {"sessions", kept.sessions}, {"agents", std::move(agents)}, {"file", Value()}};
  if (revoked.policy_file) object["file"] = *revoked.policy_file;
  return tool::json_text(Value(std::move(object))) + "\n";
}

std::string revoked_text(const service::Revoked& revoked, const std::string& host) {
  const std::string name = printable(host, 256);
  std::string text;
  if (revoked.policy_file) text += cat({name, " is no longer in ", *revoked.policy_file, "\n"});
  for (const service::RevokedRun& run : revoked.runs) {
    const std::string what = run.ended ? "was told to end" : "keeps what it has read already; --kill ends it";
    text += cat({"taken back from process ", std::to_string(run.pid), " (run ", run.id, "), ",
                 std::to_string(run.connections), " of its connections ended; it ", what, "\n"});
  }
  return text;
}

std::string ended_text(const RevokedAgent& agent) {
  if (agent.ended == 0) return "";
  const bool one = agent.ended == 1;
  return cat(
      {"; ", std::to_string(agent.ended), one ? " command of its was" : " commands of its were", " told to end"});
}

}  // namespace

int questions(const QuestionsArguments& arguments) {
  if (arguments.follow == Follow::kNo) return list_questions(arguments.form);
  const auto directory = runs_directory();
  if (!directory) return complain(directory.error());
  const Status followed = Follower(*directory, arguments.form).follow();
  return followed ? 0 : complain(followed.error());
}

int answer(const AnswerArguments& arguments) {
  const auto given = give(arguments);
  if (given) return 0;
  (void)complain(given.error());
  return 1;
}

int revoke(const RevokeArguments& arguments) {
  const auto target = service::canonical_target(arguments.host);
  if (!target) return complain(target.error());
  const auto facts = host::probe_facts();
  if (!facts) return complain(facts.error());
  const auto end = arguments.kill == Kill::kYes ? service::EndCommands::kYes : service::EndCommands::kNo;
  // Before the runs hear of it: one that asks again meanwhile would have the session's answer, and keep it.
  const std::int64_t sessions = revoke_in_sessions(*target);
  const auto revoked = service::revoke(*target, end, *facts, sys::own_environment());
  if (!revoked) return complain(revoked.error());
  if (revoked->policy_file) tell_daemon_of_policy();
  const InDaemon kept{sessions, revoke_in_agents(*target, arguments.kill)};
  const bool nothing = revoked->runs.empty() && !revoked->policy_file && kept.sessions == 0 && kept.agents.empty();
  if (arguments.form == OutputForm::kJson) {
    const int printed = print(revoked_json(*revoked, kept));
    return printed != 0 ? printed : nothing ? 1 : 0;
  }
  if (nothing) {
    (void)complain(Error::not_found(cat({"nothing that runs was allowed ", printable(*target, 256),
                                         " by an answer, and the policy here has no such entry"})));
    return 1;
  }
  std::string text = revoked_text(*revoked, *target);
  for (const RevokedAgent& one : kept.agents) text += cat({"taken back from agent ", one.name, ended_text(one), "\n"});
  if (kept.sessions > 0) text += cat({"taken back from ", std::to_string(kept.sessions), " answers for sessions\n"});
  return print(text);
}

}  // namespace hutch::cli
