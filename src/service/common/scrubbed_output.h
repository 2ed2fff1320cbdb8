// What commands print without what their agent keeps secret: as it comes, and what is kept of it.
#pragma once

#include <array>
#include <functional>
#include <string_view>

#include "sandbox/resident/process.h"
#include "secret/scrubber.h"
#include "tool/place.h"

namespace hutch::service {

// Both streams of a command, as they come: a value may come in two pieces.
class ScrubbedOutput {
 public:
  using Take = std::function<void(tool::Stream stream, std::string_view bytes)>;
  // Both have to live as long.
  ScrubbedOutput(const secret::Scrubber& scrubber, const Take& take)
      : streams_{secret::ScrubbedStream(scrubber), secret::ScrubbedStream(scrubber)},
        scrubber_(scrubber),
        take_(take) {}
  void take(tool::Stream stream, std::string_view bytes);
  // With Cut::kEnd where they were not to end here.
  void finish(secret::Cut end = secret::Cut::kNowhere);

 private:
  std::array<secret::ScrubbedStream, 2> streams_;
  const secret::Scrubber& scrubber_;
  const Take& take_;
};

// Before anything is cut out of it: of a value that is cut through nothing is known any more. Where all was kept it is
// one text; else a value may be cut where the bytes between are left out. `end` is Cut::kEnd of what may go on.
void scrub(const secret::Scrubber& scrubber, tool::Kept& kept, secret::Cut end);
// Of one that was ended, in the middle of what it wrote: Cut::kEnd.
secret::Cut cut_of(const sandbox::ProcessEnd& end);

}  // namespace hutch::service
