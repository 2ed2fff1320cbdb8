// Reads the arguments of calls.
#include "server/protocol/call_reader.h"

#include "base/text.h"
#include "wire/daemon.h"

namespace hutch::server {

const Value* CallReader::find(std::string_view key) const {
  const auto found = call_.find(key);
  return found == call_.end() || found->second.is_null() ? nullptr : &found->second;
}

Result<std::string> CallReader::text(std::string_view key) const {
  std::string found = TRY(optional_text(key));
  if (found.empty()) return fail(Error::invalid(cat({key, " is missing"})));
  return found;
}

Result<std::string> CallReader::optional_text(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr) return std::string();
  const auto* found = value->get<std::string>();
  if (found == nullptr) return fail(Error::invalid(cat({key, " must be text"})));
  if (found->contains('\0')) return fail(Error::invalid(cat({key, " must be text without NUL"})));
  return *found;
}

Result<std::string> CallReader::bytes(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr) return std::string();
  const auto* text = value->get<std::string>();
  if (text == nullptr) return fail(Error::invalid(cat({key, " must be text"})));
  return TRY_CTX(wire::bytes_of_text(*text), key);
}

Result<std::vector<std::string>> CallReader::texts(std::string_view key) const {
  std::vector<std::string> all;
  const Value* value = find(key);
  if (value == nullptr) return all;
  const auto* list = value->get<Value::List>();
  if (list == nullptr) return fail(Error::invalid(cat({key, " must be a list of texts"})));
  for (const Value& one : *list) {
    const auto* text = one.get<std::string>();
    if (text == nullptr || text->contains('\0')) return fail(Error::invalid(cat({key, " must be a list of texts"})));
    all.push_back(*text);
  }
  return all;
}

Result<std::int64_t> CallReader::number(std::string_view key, std::int64_t otherwise) const {
  const Value* value = find(key);
  if (value == nullptr) return otherwise;
  const auto* number = value->get<std::int64_t>();
  if (number == nullptr) return fail(Error::invalid(cat({key, " must be a whole number"})));
  return *number;
}

Result<bool> CallReader::truth(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr) return false;
  const auto* truth = value->get<bool>();
  if (truth == nullptr) return fail(Error::invalid(cat({key, " must be true or false"})));
  return *truth;
}

}  // namespace hutch::server
