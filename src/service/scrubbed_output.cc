// What commands print without what their agent keeps secret.
#include "service/scrubbed_output.h"

namespace hutch::service {

void ScrubbedOutput::take(tool::Stream stream, std::string_view bytes) {
  const std::string text = streams_.at(stream == tool::Stream::kOutput ? 0 : 1).take(bytes);
  if (!text.empty()) take_(stream, text);
}

void ScrubbedOutput::finish() {
  for (const auto stream : {tool::Stream::kOutput, tool::Stream::kError}) {
    const std::string text = streams_.at(stream == tool::Stream::kOutput ? 0 : 1).finish();
    if (!text.empty()) take_(stream, text);
  }
}

void scrub(const secret::Scrubber& scrubber, tool::Kept& kept) {
  if (scrubber.empty()) return;
  if (kept.omitted_bytes == 0) {
    kept.head = scrubber.scrub(kept.whole());
    kept.tail.clear();
    return;
  }
  kept.head = scrubber.scrub(kept.head, secret::Cut::kEnd);
  kept.tail = scrubber.scrub(kept.tail, secret::Cut::kBegin);
}

void scrub(const secret::Scrubber& scrubber, tool::CommandEnd& end) {
  scrub(scrubber, end.output);
  scrub(scrubber, end.error);
}

}  // namespace hutch::service
