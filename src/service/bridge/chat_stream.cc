// The events of a chat's answer.
#include "service/bridge/chat_stream.h"

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "wire/json_guard.h"

namespace hutch::service {

namespace {

using nlohmann::json;

constexpr std::size_t kEventBytesMax = 1 << 20;

// An object's member, or null.
const json* member_of_object(const json* object, const char* name) {
  if (object == nullptr || !object->is_object()) return nullptr;
  const auto found = object->find(name);
  return found == object->end() ? nullptr : &*found;
}

const json* first(const json* list) {
  return list != nullptr && list->is_array() && !list->empty() ? &list->front() : nullptr;
}

std::string text_or_empty(const json* value) {
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
  if (held_.size() > kEventBytesMax) {
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
  if (done_ || !line.starts_with('{') || !wire::check_json_shape(line, kEventBytesMax)) return {};
  const json event = parse_json(line);
  if (const json* error = member_of_object(&event, "error")) {
    const std::string said =
        error->is_string() ? error->get<std::string>() : text_or_empty(member_of_object(error, "message"));
    error_ = said.empty() ? "an error without words" : said;
  }
  const json* choice = first(member_of_object(&event, "choices"));
  if (!text_or_empty(member_of_object(choice, "finish_reason")).empty()) done_ = true;
  // An endpoint that does not stream sends the message whole.
  const json* delta = member_of_object(choice, "delta");
  return text_or_empty(member_of_object(delta != nullptr ? delta : member_of_object(choice, "message"), "content"));
}

}  // namespace hutch::service
