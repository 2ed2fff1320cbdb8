// What commands print without what their agent keeps secret.
#include "service/common/scrubbed_output.h"

namespace hutch::service {

void ScrubbedOutput::take(tool::Stream stream, std::string_view bytes) {
  const std::string text = streams_.at(stream == tool::Stream::kOutput ? 0 : 1).take(bytes);
  if (!text.empty()) take_(stream, text);
}

void ScrubbedOutput::finish(secret::Cut end) {
  for (const auto stream : {tool::Stream::kOutput, tool::Stream::kError}) {
    // What was held back: it begins where a value may.
    std::string text = streams_.at(stream == tool::Stream::kOutput ? 0 : 1).finish();
    if (end == secret::Cut::kEnd) text = scrubber_.scrub(text, end);
    if (!text.empty()) take_(stream, text);
  }
}

void scrub(const secret::Scrubber& scrubber, tool::Kept& kept, secret::Cut end) {
  if (scrubber.empty()) return;
  if (kept.omitted_bytes == 0) {
    kept.head = scrubber.scrub(kept.whole(), end);
    kept.tail.clear();
    return;
  }
  kept.head = scrubber.scrub(kept.head, secret::Cut::kEnd);
  kept.tail = scrubber.scrub(kept.tail, end == secret::Cut::kEnd ? secret::Cut::kBoth : secret::Cut::kBegin);
}

secret::Cut cut_of(const sandbox::ProcessEnd& end) {
  const bool was_ended = end.signal != 0 || sandbox::is_timeout(end.ended_by) || sandbox::is_killed(end.ended_by);
  return was_ended ? secret::Cut::kEnd : secret::Cut::kNowhere;
}

}  // namespace hutch::service
