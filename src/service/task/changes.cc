// Which files of an agent's have changed while something ran.
#include "service/task/changes.h"

#include <utility>

#include "base/limits.h"
#include "service/agent/scrubber.h"

namespace hutch::service {

using tool::Value;

namespace {

// A place that cannot be looked at is one of which not all is known.
sandbox::TreeListing listing_of(const WatchedPlace& place) {
  auto listing = sandbox::list_tree(place.on_host, {});
  return listing ? std::move(*listing) : sandbox::TreeListing();
}

}  // namespace

ChangesWatch::ChangesWatch(std::vector<WatchedPlace> places) : places_(std::move(places)) {
  for (const WatchedPlace& place : places_) before_.push_back(listing_of(place));
}

sandbox::TreeChanges ChangesWatch::changes() const {
  sandbox::TreeChanges changes;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const sandbox::TreeListing after = listing_of(places_[i]);
    if (before_[i].files.empty() || after.files.empty()) changes.truncated = true;
    sandbox::add_changes(before_[i], after, places_[i].shown, {}, changes);
  }
  return changes;
}

std::string ChangesWatch::changes_json() const {
  const sandbox::TreeChanges found = changes();
  Value::List list;
  for (const sandbox::FileChange& change : found.changes) {
    Value::Object one{{"path", change.path}, {"change", sandbox::name_of(change.change)}};
    if (change.files > 0) one["files"] = change.files;
    list.emplace_back(std::move(one));
  }
  return tool::json_text(Value(Value::Object{
      {"files_changed", std::move(list)}, {"files_changed_count", found.total}, {"files_truncated", found.truncated}}));
}

Value::Object shown_task(AgentService& agents, const store::TaskRecord& task, TaskForm form) {
  Value::Object object = task_object(task, form);
  scrub_members(scrubber_of(agents, task.agent), object, {"text", "reason", "stdout", "stderr", "files_changed"});
  return object;
}

Value::Object task_object(const store::TaskRecord& task, TaskForm form) {
  Value::Object object{{"id", task.id},           {"agent", task.agent},
                       {"text", task.text},       {"status", store::name_of(task.status)},
                       {"created", task.created}, {"timeout_ms", task.timeout_ms}};
  if (!task.started.empty()) object["started"] = task.started;
  if (!task.pid.empty()) object["pid"] = task.pid;
  if (!task.reason.empty()) object["reason"] = task.reason;
  if (store::has_ended(task.status)) {
    object["ended"] = task.ended;
    object["exit_code"] = task.exit_code;
    object["duration_ms"] = task.duration_ms;
  }
  if (form == TaskForm::kListed || !store::has_ended(task.status)) return object;
  object["stdout"] = task.output;
  object["stderr"] = task.error;
  const auto changes = tool::parse_value(task.changes, limits::kFrameBytesMax);
  if (const auto* known = changes ? changes->get<Value::Object>() : nullptr)
    object.insert(known->begin(), known->end());
  return object;
}

}  // namespace hutch::service
