// The events of a chat's answer.
#include "service/chat_stream.h"

#include <nlohmann/json.hpp>

#include "wire/json_guard.h"

namespace hutch::service {

namespace {

using nlohmann::json;

constexpr std::size_t kLineBytesMax = 1 << 20;

// An object's member, or null.
const json* member(const json* object, const char* name) {
  if (object == nullptr || !object->is_object()) return nullptr;
  const auto found = object->find(name);
  return found == object->end() ? nullptr : &*found;
}

const json* first(const json* list) {
  return list != nullptr && list->is_array() && !list->empty() ? &list->front() : nullptr;
}

std::string text_of(const json* value) {
  return value != nullptr && value->is_string() ? value->get<std::string>() : "";
}

}  // namespace

std::string ChatStream::take(std::string_view bytes) {
  held_ += bytes;
  std::string text;
  std::size_t begin = 0;
  for (std::size_t end = held_.find('\n'); end != std::string::npos; end = held_.find('\n', begin)) {
    text += take_line(std::string_view(held_).substr(begin, end - begin));
    begin = end + 1;
  }
  held_.erase(0, begin);
  if (held_.size() > kLineBytesMax) {
    too_long_ = true;
    held_.clear();
  }
  return text;
}

// "data: {...}", or an error as one object without events.
std::string ChatStream::take_line(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.starts_with("data:")) line.remove_prefix(5);
  while (line.starts_with(' ')) line.remove_prefix(1);
  if (line == "[DONE]") done_ = true;
  if (done_ || !line.starts_with('{') || !wire::check_json_shape(line, kLineBytesMax)) return {};
  const json event = json::parse(line, nullptr, false);
  if (const json* error = member(&event, "error")) {
    const std::string said = error->is_string() ? error->get<std::string>() : text_of(member(error, "message"));
    error_ = said.empty() ? "an error without words" : said;
  }
  const json* choice = first(member(&event, "choices"));
  if (!text_of(member(choice, "finish_reason")).empty()) done_ = true;
  // An endpoint that does not stream sends the message whole.
  const json* delta = member(choice, "delta");
  return text_of(member(delta != nullptr ? delta : member(choice, "message"), "content"));
}

}  // namespace hutch::service
