// A place for the tests of tools: a real directory, real processes, plain file requests.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tool/place.h"
#include "tool/registry.h"
#include "tool/value.h"

namespace hutch::tool {

class TestPlace final : public Place {
 public:
  TestPlace();
  ~TestPlace() override;

  Users users() const override { return image_users; }
  const Layout& layout() const override { return layout_; }
  Layout& change_layout() { return layout_; }
  Result<CommandEnd> run(const Command& command) override;
  Result<std::string> spawn(const Command& command) override;
  Result<ProcessState> poll(const std::string& id) override;
  Result<ProcessState> wait(const std::string& id, std::chrono::milliseconds at_most) override;
  Result<bool> kill(const std::string& id, int number) override;
  Result<wire::FileReply> file(const wire::FileRequest& request) override;

  std::string path(std::string_view relative) const;  // below the directory of the test
  std::string home(std::string_view relative) const;
  void put(const std::string& absolute, std::string_view content);
  std::string get(const std::string& absolute) const;

  // Answers instead of a process, or instead of the files.
  std::function<std::optional<Result<CommandEnd>>(const Command&)> scripted_run;
  std::function<std::optional<Result<wire::FileReply>>(const wire::FileRequest&)> scripted_file;
  // What "/" is for the file server.
  std::string system_root = "/";
  bool keeps_log_files = false;
  Users image_users = Users::kMany;
  std::vector<Command> commands;  // every one, in order

 private:
  struct Background;

  std::string directory_;
  Layout layout_;
  std::map<std::string, std::unique_ptr<Background>> background_;
};

// A call by an agent that may do everything, with the envelope as a value to look into.
class Caller {
 public:
  explicit Caller(TestPlace& place) : place_(place) {}

  Value::Object call(std::string_view tool, const Value::Object& arguments);
  // Its `result`; fails the test when there is none.
  Value::Object result(std::string_view tool, const Value::Object& arguments);

  AgentSettings settings{.name = "alice", .autonomous_exec = Permission::kYes, .commands_per_turn_max = 0};
  Limiters limiters;
  std::string turn;
  TimePoint time{};
  bool real_time = true;
  std::stop_token stop;
  std::string progress;

 private:
  TestPlace& place_;
};

std::string text_of(const Value::Object& object, std::string_view name);
std::int64_t number_of(const Value::Object& object, std::string_view name);
bool truth_of(const Value::Object& object, std::string_view name);

}  // namespace hutch::tool
