// The arguments of a call, by the types that they should have.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tool/value.h"

namespace hutch::server {

using tool::Value;

// The call's arguments. What is absent is empty; what is of another type is an error that names it.
class CallReader {
 public:
  explicit CallReader(const Value::Object& call) : call_(call) {}
  Result<std::string> text(std::string_view key) const;  // has to be there
  Result<std::string> optional_text(std::string_view key) const;  // "" where it is absent
  Result<std::string> bytes(std::string_view key) const;  // wire::text_of_bytes; "" where it is absent
  Result<std::vector<std::string>> texts(std::string_view key) const;
  Result<std::int64_t> number(std::string_view key, std::int64_t otherwise) const;
  Result<bool> truth(std::string_view key) const;  // false where it is absent

 private:
  const Value* find(std::string_view key) const;
  const Value::Object& call_;
};

}  // namespace hutch::server
