// What can be done with plugins, the same to every kind of client.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plugin/installs.h"
#include "plugin/library.h"
#include "server/state/shared.h"
#include "service/plugins/requests.h"
#include "tool/value.h"

namespace hutch::server {

class PluginDesk {
 public:
  using Value = tool::Value;
  explicit PluginDesk(Shared& shared) : shared_(shared) {}

  // What the steps of an installation say, and when it is to end: whoever waits may go.
  struct Waiting {
    std::function<void(const std::string& agent, std::string_view step, std::string_view line)> on_step{};
    std::stop_token stop{};
    std::function<void(const std::string& agent, service::PluginWish::Need need)> on_need{};
    service::PluginWish::SetUpNetwork set_up = service::PluginWish::SetUpNetwork::kOfAgent;
  };

  enum class Which { kAll, kNew };  // kNew: those that agents made, which are seen by that
  Result<Value> library(Which which);
  Result<Value> installed(const std::string& agent);                 // empty: of all
  Result<Value> show(const std::string& id, const std::string& agent);
  Result<std::string> exported(const std::string& id, std::int64_t number);  // 0: the current one
  Result<Value> add(const plugin::Recipe& recipe, const std::string& from);
  Result<Value> duplicate(const std::string& id, const std::string& name);
  Result<Value> install(const std::string& agent, const plugin::Recipe& recipe, const std::string& from,
                        const Waiting& waiting);
  Result<Value> install_kept(const std::string& agent, const std::string& id, const Waiting& waiting);
  // Every agent that has it gets the library's version, or this one.
  Result<Value> update(const std::string& id, const std::optional<plugin::Recipe>& recipe, const std::string& from,
                       const Waiting& waiting);
  Result<Value> rollback(const std::string& id, std::int64_t number, const Waiting& waiting);  // 0: the one before
  Result<Value> remove(const std::string& id, const std::string& agent);  // empty: of all, and of the library

  // --- its values, of an agent that has it ---

  Result<Value> values(const std::string& agent, const std::string& id);
  Result<Value> value(const std::string& agent, const std::string& id, const std::string& key);
  Result<Value> set_value(const std::string& agent, const std::string& id, const std::string& key,
                          const std::string& value);

 private:
  using Installs = std::vector<std::shared_ptr<const plugin::Install>>;
  Result<plugin::Entry> entry_of(const std::string& id);
  Result<Installs> installs_of(const std::string& agent);
  Status expect_install(const std::string& agent, const std::string& id);
  enum class Wants { kInstall, kUpdate };
  Result<plugin::Install> install_for(const std::string& agent, const plugin::Recipe& recipe, const std::string& from,
                                      Wants wants, const Waiting& waiting);
  // Every agent that has the plugin gets this recipe of it; who has it then.
  Result<std::vector<std::string>> spread(const plugin::Recipe& recipe, const std::string& from,
                                          const Waiting& waiting);
  Result<Value> told(const std::string& id, const std::vector<std::string>& agents);

  Shared& shared_;
};

}  // namespace hutch::server
