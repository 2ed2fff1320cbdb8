// What a call that is no stream answers.
#include "server/e2b/reply.h"

#include "base/text.h"

namespace hutch::server::e2b {

Reply::Reply(const Value::Object& object) : json(tool::json_text(Value(object))) {}

ListReply::ListReply(std::string_view name) : text_(cat({"{\"", name, "\":["})) {}

Status ListReply::add(Value::Object one) {
  if (!std::exchange(is_first_, false)) text_ += ',';
  text_ += tool::json_text(Value(std::move(one)));
  if (text_.size() <= kReplyBytesMax) return {};
  return fail(Error::invalid(cat({"the answer would have more than ", std::to_string(kReplyBytesMax), " bytes"})));
}

Reply ListReply::finish() && {
  text_ += "]}";
  return Reply(std::move(text_));
}

}  // namespace hutch::server::e2b
