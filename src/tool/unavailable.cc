// The tool of plugins, until hutch has these.
#include "tool/handlers.h"
#include "tool/steps.h"

namespace hutch::tool {

Envelope without_plugins(const Call& call) {
  if (auto refused = take_use(call, "http", "Plugin registration")) return std::move(*refused);
  return final_failure(Kind::kUnavailable,
                       "This hutch has no plugins yet. Keep the scripts in the agent's home and run them with "
                       "`sandbox_exec` or `sandbox_run_script`.");
}

}  // namespace hutch::tool
