// Routes of plugins: the library, what agents have installed, and its values. Their tools are called as all tools are.
#include <poll.h>

#include <array>
#include <functional>

#include "base/text.h"
#include "plugin/recipe.h"
#include "server/http/attended.h"
#include "server/http/routes.h"
#include "server/protocol/call_reader.h"
#include "server/state/plugin_desk.h"
#include "server/state/plugin_trial.h"
#include "sys/io.h"

namespace hutch::server::http {

namespace {

using Waiting = PluginDesk::Waiting;
using Done = Result<Value>;

Handled listed(const char* name, Value list) {
  return value_answer(200, Value(Value::Object{{name, std::move(list)}}));
}

// The body is the recipe, with its keys in their order.
Result<plugin::Recipe> recipe_in_body(Exchange& exchange) { return plugin::parse_recipe(exchange.request().body); }

std::string from_of(Exchange& exchange) {
  const std::string from = exchange.query("from");
  return from.empty() ? std::string("HTTP") : printable(from, 200);
}

Handled wait_for(Exchange& exchange, int status, std::function<Done(PluginDesk& desk, const Waiting& waiting)> work) {
  const auto do_it = [&shared = exchange.shared(), work = std::move(work)](const std::stop_token& stop) {
    PluginDesk desk(shared);
    return work(desk, {.stop = stop});
  };
  return value_answer(status, TRY(attended(exchange, do_it)));
}

Handled get_plugins(Exchange& exchange) {
  const bool only_new = TRY(exchange.query_flag("new"));
  return listed(
      "plugins",
      TRY(PluginDesk(exchange.shared()).library(only_new ? PluginDesk::Which::kNew : PluginDesk::Which::kAll)));
}

Handled post_plugins(Exchange& exchange) {
  const plugin::Recipe recipe = TRY(recipe_in_body(exchange));
  return value_answer(201, TRY(PluginDesk(exchange.shared()).add(recipe, from_of(exchange))));
}

Handled post_plugin_check(Exchange& exchange) {
  const plugin::Recipe recipe = TRY(recipe_in_body(exchange));
  return wait_for(exchange, 200, [recipe, &pool = exchange.shared().pool](PluginDesk&, const Waiting& waiting) {
    return try_plugin(pool, recipe, waiting.stop);
  });
}

Handled get_plugin(Exchange& exchange) {
  return value_answer(200, TRY(PluginDesk(exchange.shared()).show(exchange.part("id"), "")));
}

Handled get_plugin_recipe(Exchange& exchange) {
  const std::int64_t number = TRY(exchange.query_number("number", 0));
  return json_answer(200, TRY(PluginDesk(exchange.shared()).exported(exchange.part("id"), number)));
}

// Without a body the library's version.
Handled post_plugin_update(Exchange& exchange) {
  std::optional<plugin::Recipe> recipe;
  if (!exchange.request().body.empty()) recipe = TRY(recipe_in_body(exchange));
  return wait_for(exchange, 200,
                  [id = exchange.part("id"), recipe, from = from_of(exchange)](
                      PluginDesk& desk, const Waiting& waiting) { return desk.update(id, recipe, from, waiting); });
}

Handled post_plugin_rollback(Exchange& exchange) {
  const Value::Object body = TRY(exchange.body_object({"number"}));
  const std::int64_t number = TRY(CallReader(body).number("number", 0));
  return wait_for(exchange, 200, [id = exchange.part("id"), number](PluginDesk& desk, const Waiting& waiting) {
    return desk.rollback(id, number, waiting);
  });
}

Handled post_plugin_duplicate(Exchange& exchange) {
  const Value::Object body = TRY(exchange.body_object({"name"}));
  const std::string name = TRY(CallReader(body).text("name"));
  return value_answer(201, TRY(PluginDesk(exchange.shared()).duplicate(exchange.part("id"), name)));
}

Handled delete_plugin(Exchange& exchange) {
  return wait_for(exchange, 200,
                  [id = exchange.part("id")](PluginDesk& desk, const Waiting&) { return desk.remove(id, ""); });
}

// --- of an agent ---

Handled get_agent_plugins(Exchange& exchange) {
  return listed("plugins", TRY(PluginDesk(exchange.shared()).installed(exchange.part("name"))));
}

Handled post_agent_plugins(Exchange& exchange) {
  TRY(exchange.agent());
  const plugin::Recipe recipe = TRY(recipe_in_body(exchange));
  return wait_for(exchange, 201,
                  [agent = exchange.part("name"), recipe, from = from_of(exchange)](
                      PluginDesk& desk, const Waiting& waiting) { return desk.install(agent, recipe, from, waiting); });
}

Handled put_agent_plugin(Exchange& exchange) {
  TRY(exchange.agent());
  return wait_for(exchange, 201,
                  [agent = exchange.part("name"), id = exchange.part("id")](PluginDesk& desk, const Waiting& waiting) {
                    return desk.install_kept(agent, id, waiting);
                  });
}

Handled get_agent_plugin(Exchange& exchange) {
  return value_answer(200, TRY(PluginDesk(exchange.shared()).show(exchange.part("id"), exchange.part("name"))));
}

Handled delete_agent_plugin(Exchange& exchange) {
  TRY(exchange.agent());
  return wait_for(exchange, 200,
                  [agent = exchange.part("name"), id = exchange.part("id")](PluginDesk& desk, const Waiting&) {
                    return desk.remove(id, agent);
                  });
}

Handled get_plugin_values(Exchange& exchange) {
  return value_answer(200, TRY(PluginDesk(exchange.shared()).values(exchange.part("name"), exchange.part("id"))));
}

Handled get_plugin_value(Exchange& exchange) {
  return value_answer(
      200, TRY(PluginDesk(exchange.shared()).value(exchange.part("name"), exchange.part("id"), exchange.part("key"))));
}

Handled put_plugin_value(Exchange& exchange) {
  const Value::Object body = TRY(exchange.body_object({"value"}));
  const std::string text = TRY(CallReader(body).text("value"));
  return value_answer(200, TRY(PluginDesk(exchange.shared())
                                   .set_value(exchange.part("name"), exchange.part("id"), exchange.part("key"), text)));
}

constexpr std::array kPluginRoutes = {
    Route{"GET", "/v1/plugins", BodyType::kNone, get_plugins},
    Route{"POST", "/v1/plugins", BodyType::kJson, post_plugins},
    Route{"POST", "/v1/plugins/check", BodyType::kJson, post_plugin_check},
    Route{"GET", "/v1/plugins/{id}", BodyType::kNone, get_plugin},
    Route{"DELETE", "/v1/plugins/{id}", BodyType::kNone, delete_plugin},
    Route{"GET", "/v1/plugins/{id}/recipe", BodyType::kNone, get_plugin_recipe},
    Route{"POST", "/v1/plugins/{id}/update", BodyType::kJson, post_plugin_update},
    Route{"POST", "/v1/plugins/{id}/rollback", BodyType::kJson, post_plugin_rollback},
    Route{"POST", "/v1/plugins/{id}/duplicate", BodyType::kJson, post_plugin_duplicate},
    Route{"GET", "/v1/agents/{name}/plugins", BodyType::kNone, get_agent_plugins},
    Route{"POST", "/v1/agents/{name}/plugins", BodyType::kJson, post_agent_plugins},
    Route{"GET", "/v1/agents/{name}/plugins/{id}", BodyType::kNone, get_agent_plugin},
    Route{"PUT", "/v1/agents/{name}/plugins/{id}", BodyType::kNone, put_agent_plugin},
    Route{"DELETE", "/v1/agents/{name}/plugins/{id}", BodyType::kNone, delete_agent_plugin},
    Route{"GET", "/v1/agents/{name}/plugins/{id}/config", BodyType::kNone, get_plugin_values},
    Route{"GET", "/v1/agents/{name}/plugins/{id}/config/{key}", BodyType::kNone, get_plugin_value},
    Route{"PUT", "/v1/agents/{name}/plugins/{id}/config/{key}", BodyType::kJson, put_plugin_value},
};

}  // namespace

std::span<const Route> plugin_routes() { return kPluginRoutes; }

}  // namespace hutch::server::http
