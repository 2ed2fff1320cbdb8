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
// and escaped as in a URL or in JSON. What comes instead is [REDACTED:NAME].
class Scrubber {
 public:
  explicit Scrubber(const std::vector<Secret>& secrets);

  bool empty() const { return forms_.empty(); }
  std::string scrub(std::string_view text) const;

 private:
  friend class ScrubbedStream;
  struct Form {
    std::string text;
    std::string instead;
  };
  struct Found {
    std::size_t at = 0;
    const Form* form = nullptr;
  };
  Found find(std::string_view text, std::size_t from) const;
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
