// Takes the values of secrets out of texts, also as the usual programs write them otherwise. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "secret/secret.h"

namespace hutch::secret {

// Shorter values are found everywhere: taking them out would spoil what is written, and say where they are.
inline constexpr std::size_t kScrubbedBytesMin = 6;

// As it is, in base64 (of both alphabets, at each of the three places where it can begin within other bytes), in hex,
// and escaped as in a URL, in a form, in JSON, in HTML or for a shell; line ends between its characters, where a
// program wraps what it writes or a terminal adds its own, hide none of them. What comes instead is [REDACTED:NAME].
class Scrubber {
 public:
  explicit Scrubber(const std::vector<Secret>& secrets);

  bool empty() const { return forms_.empty(); }
  std::string scrub(std::string_view text) const;

 private:
  friend class ScrubbedStream;
  struct Form {
    std::string text;  // without line ends
    std::string instead;
  };
  struct Replaced {
    std::string text;
    std::size_t used = 0;  // of the text that was looked at: up to the end of the last value in it
  };
  Replaced replace(std::string_view text) const;
  std::size_t begun(std::string_view text) const;  // how many bytes of the end may be the beginning of a form

  std::vector<Form> forms_;  // the longest first
};

// The same for a text that comes in pieces: what may be the beginning of a value is held back until more comes.
class ScrubbedStream {
 public:
  explicit ScrubbedStream(const Scrubber& scrubber) : scrubber_(scrubber) {}
  std::string take(std::string_view piece);
  std::string finish();

 private:
  const Scrubber& scrubber_;
  std::string held_;
};

}  // namespace hutch::secret
