// The arguments of a call, read from JSON and held to the tool's parameters.
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tool/envelope.h"
#include "tool/schema.h"

namespace hutch::tool {

class Arguments {
 public:
  bool has(std::string_view name) const { return values_.contains(name); }
  // Of what is absent and has no default: "", nothing, false, none.
  const std::string& text(std::string_view name) const;
  std::optional<std::int64_t> number(std::string_view name) const;
  bool is_set(std::string_view name) const;
  std::vector<std::string> texts(std::string_view name) const;

 private:
  friend class ArgumentReader;
  Value::Object values_;
};

// Lenient where a model's intent is plain: "30" for 30, "yes" for true, one string or its JSON for a list; null is
// absent. Everything else is invalid_args that names the field and what was expected. No text at all is {}.
std::expected<Arguments, Envelope> read_arguments(std::span<const Parameter> parameters, std::string_view json);

}  // namespace hutch::tool
