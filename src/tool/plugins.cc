// The tool by which an agent registers a plugin that it has written.
#include "tool/handlers.h"
#include "tool/steps.h"

namespace hutch::tool {

Envelope register_plugin(const Call& call) {
  if (auto refused = take_use(call, "http", "Plugin registration")) return std::move(*refused);
  if (!call.context.register_plugin) {
    return final_failure(Kind::kUnavailable, "There are no plugins here: this sandbox has no agent.");
  }
  return call.context.register_plugin(call.arguments.text("plugin_id"));
}

}  // namespace hutch::tool
