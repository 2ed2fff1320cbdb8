// What a call of the E2B-compatible API that is no stream answers. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "tool/value.h"

namespace hutch::server::e2b {

using tool::Value;

inline constexpr std::size_t kReplyBytesMax = 16 << 20;

struct Reply {
  Reply(const Value::Object& object);  // NOLINT(google-explicit-constructor): so that a handler returns an object
  explicit Reply(std::string text) : json(std::move(text)) {}
  std::string json;
};

// {"NAME": [...]}, one by one: as values a long list takes many times its text.
class ListReply {
 public:
  explicit ListReply(std::string_view name);
  Status add(Value::Object one);  // an error where the answer would have more than kReplyBytesMax
  Reply finish() &&;

 private:
  std::string text_;
  bool is_first_ = true;
};

}  // namespace hutch::server::e2b
