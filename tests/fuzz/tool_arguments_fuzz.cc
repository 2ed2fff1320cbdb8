// What a model writes as the arguments of any tool is read, or refused with an envelope that names the field.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tool/arguments.h"
#include "tool/paths.h"
#include "tool/registry.h"

// The first byte chooses the tool. A path that is read is located, and its place stays below a root.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const auto tools = hutch::tool::all_tools();
  const hutch::tool::Tool& tool = tools[data[0] % tools.size()];
  const std::string_view json(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto arguments = hutch::tool::read_arguments(tool.parameters, json);
  if (!arguments) {
    if (arguments.error().ok || arguments.error().message.empty()) std::abort();
    return 0;
  }
  if (!arguments->has("path")) return 0;
  const hutch::tool::Layout layout{.agent = "a",
                                   .home = "/workspace/agents/a",
                                   .shared = "/workspace/shared",
                                   .output = "/output",
                                   .base = "/workspace/agents/a",
                                   .roots = {"/workspace/agents/a", "/workspace/shared", "/output"}};
  const auto located = hutch::tool::locate_path(layout, arguments->text("path"));
  if (!located) return 0;
  // `a..` is a name like others; `..` as a component is not.
  const std::string slashed = "/" + located->place.path + "/";
  if (located->place.path.starts_with('/') || slashed.contains("/../")) std::abort();
  return 0;
}
