// The lines of JSON of a control descriptor and of a run's socket.
#include "wire/control.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "wire/json_guard.h"

namespace hutch::wire {

namespace {

using Json = nlohmann::json;

constexpr int kControlVersion = 1;

std::string line_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

Status check_keys(const Json& object, std::span<const std::string_view> known) {
  for (const auto& [key, value] : object.items()) {
    if (std::ranges::find(known, key) != known.end()) continue;
    const auto near = nearest(key, known);
    return fail(Error::invalid(
        cat({"unknown key ", printable(key, 64), near ? cat({"; did you mean ", *near, "?"}) : std::string()})));
  }
  return {};
}

Result<std::string> text_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return fail(Error::invalid(cat({"", key, " must be text"})));
  return found->get<std::string>();
}

Result<ControlInput> parse_answer(const Json& object) {
  static constexpr std::array<std::string_view, 5> kKeys = {"v", "type", "id", "choice", "minutes"};
  TRY(check_keys(object, kKeys));
  ControlAnswer answer{TRY(text_at(object, "id")), TRY(text_at(object, "choice")), std::nullopt};
  if (const auto minutes = object.find("minutes"); minutes != object.end()) {
    if (!minutes->is_number_integer() || *minutes < 1 || *minutes > 525'600) {
      return fail(Error::invalid("minutes must be a whole number from 1 to 525600"));
    }
    answer.minutes = minutes->get<int>();
  }
  return ControlInput(std::move(answer));
}

Result<ControlInput> parse_update(const Json& object) {
  static constexpr std::array<std::string_view, 3> kKeys = {"v", "type", "policy"};
  TRY(check_keys(object, kKeys));
  const auto policy = object.find("policy");
  if (policy == object.end() || !policy->is_object()) return fail(Error::invalid("policy must be an object"));
  // What holds of files, limits and the environment was fixed at the start: nothing of an update is passed over.
  for (const auto& [key, value] : policy->items()) {
    if (key == "network" || key == "$schema") continue;
    return fail(Error::invalid(
        cat({"policy: ", printable(key, 64), " cannot be changed while the sandbox runs; network alone can"})));
  }
  if (!policy->contains("network")) return fail(Error::invalid("policy has no network"));
  return ControlInput(ControlUpdate{policy->dump(-1, ' ', false, Json::error_handler_t::replace)});
}

Result<ControlInput> parse_revoke(const Json& object) {
  static constexpr std::array<std::string_view, 3> kKeys = {"v", "type", "host"};
  TRY(check_keys(object, kKeys));
  return ControlInput(ControlRevoke{TRY(text_at(object, "host"))});
}

template <class Input>
Result<ControlInput> parse_bare(const Json& object) {
  static constexpr std::array<std::string_view, 2> kKeys = {"v", "type"};
  TRY(check_keys(object, kKeys));
  return ControlInput(Input{});
}

struct InputType {
  std::string_view name;
  Result<ControlInput> (*parse)(const Json& object);
};
constexpr std::array kInputs = {
    InputType{"answer", parse_answer},
    InputType{"update", parse_update},
    InputType{"attend", parse_bare<ControlAttend>},
    InputType{"reload", parse_bare<ControlReload>},
    InputType{"revoke", parse_revoke},
};

}  // namespace

Result<ControlInput> parse_control(std::string_view line) {
  TRY(check_json_shape(line, limits::kControlLineBytesMax));
  const Json object = parse_json(line);
  if (!object.is_object()) return fail(Error::invalid("a line must be one JSON object"));
  const auto version = object.find("v");
  if (version == object.end() || *version != kControlVersion) return fail(Error::invalid("v must be 1"));
  const std::string type = TRY(text_at(object, "type"));
  const auto found = std::ranges::find(kInputs, type, &InputType::name);
  if (found != kInputs.end()) return found->parse(object);
  return fail(Error::invalid(
      cat({"unknown type ", printable(type, 64), "; known are answer, update, attend, reload and revoke"})));
}

std::string control_violation(const ControlViolation& violation) {
  Json line = {{"v", kControlVersion}, {"type", "violation"}, {"what", violation.what}, {"rule", violation.rule}};
  if (violation.pid != 0) line["pid"] = violation.pid;
  if (!violation.program.empty()) line["exe"] = violation.program;
  return line_of(line);
}

std::string control_question(const ControlQuestion& question) {
  const Json pid = question.pid == 0 ? Json() : Json(question.pid);
  const Json program = question.program.empty() ? Json() : Json(question.program);
  Json line = {{"v", kControlVersion},
               {"type", "question"},
               {"id", question.id},
               {"kind", question.kind},
               {"pid", pid},
               {"exe", program},
               {"chain", question.chain},
               {"rule", question.rule},
               {"choices", question.choices},
               {"left_ms", question.left.count()}};
  if (!question.path.empty()) {
    line["path"] = question.path;
  } else {
    line["host"] = question.host;
    line["port"] = question.port;
  }
  return line_of(line);
}

std::string control_answered(std::string_view id, std::string_view choice, std::string_view by) {
  return line_of({{"v", kControlVersion}, {"type", "answered"}, {"id", id}, {"choice", choice}, {"by", by}});
}

std::string control_done(std::string_view outcome_json) {
  return line_of({{"v", kControlVersion}, {"type", "done"}, {"outcome", parse_json(outcome_json)}});
}

std::string control_error(std::string_view message) {
  return line_of({{"v", kControlVersion}, {"type", "error"}, {"message", message}});
}

std::string control_run(const ControlRun& run, std::size_t open) {
  return line_of({{"v", kControlVersion},
                  {"type", "run"},
                  {"run", run.run},
                  {"pid", run.pid},
                  {"directory", run.directory},
                  {"command", run.command},
                  {"open", open}});
}

std::string control_accepted(std::string_view id) {
  return line_of({{"v", kControlVersion}, {"type", "accepted"}, {"id", id}});
}

std::string control_reloaded(const std::vector<std::string>& left) {
  return line_of({{"v", kControlVersion}, {"type", "reloaded"}, {"left", left}});
}

std::string control_revoked(std::string_view host, std::size_t grants, std::size_t connections) {
  return line_of(
      {{"v", kControlVersion}, {"type", "revoked"}, {"host", host}, {"grants", grants}, {"connections", connections}});
}

}  // namespace hutch::wire
