// Takes the values of secrets out of texts, also as the usual programs write them otherwise. Pure.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "secret/secret.h"

namespace hutch::secret {

class Patterns;
struct Unspelled;

// Shorter values are found everywhere: taking them out would spoil what is written, and say where they are.
inline constexpr std::size_t kScrubbedBytesMin = 6;

// Where a text is a part of one: a value may be cut there.
enum class Cut { kNowhere, kBegin, kEnd, kBoth };

// As it is, with the escapes of URLs, forms, HTML, JSON, shells and languages, in base64 (of both alphabets, at each of
// the places where it can begin within other bytes), in hex, and in each of them within another; line ends between its
// characters hide none of them. What comes instead is [REDACTED:NAME].
class Scrubber {
 public:
  explicit Scrubber(const std::vector<Secret>& secrets);
  // Where the values are not known, since they cannot be read: of every text it says that alone.
  static Scrubber withholding(std::string_view why);

  // Nothing is taken out.
  bool empty() const { return !patterns_ && withheld_.empty(); }
  // Empty, or what comes in the place of every text.
  const std::string& withheld() const { return withheld_; }
  std::string scrub(std::string_view text, Cut cut = Cut::kNowhere) const;

 private:
  friend class ScrubbedStream;
  struct Known;
  struct Place {  // in the text
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t of = 0;
  };
  struct Begun {
    std::size_t begin = 0;
    std::size_t bytes = 0;  // of the value; of one that is none so far `strong` says whether to wait for more
    std::size_t of = 0;
    bool strong = true;
  };
  struct Seen {
    std::vector<Place> places;  // in order, none within another
    std::vector<Begun> begun;  // may go on behind the end
  };
  struct Looking;
  Seen look(std::string_view text, Cut cut) const;
  static std::vector<Place> joined(std::vector<Place> places);
  void look_into(const Unspelled& text, int depth, Looking& looking) const;
  void find(const Patterns& patterns, const Unspelled& text, Looking& looking) const;
  // From `from` on, up to `until`, which no place crosses.
  std::string without(std::string_view text, const Seen& seen, std::size_t from, std::size_t until) const;

  std::shared_ptr<const Known> patterns_;  // null where there are none
  std::string withheld_;
};

// The same for a text that comes in pieces: what may be the beginning of a value is held back until more comes.
class ScrubbedStream {
 public:
  explicit ScrubbedStream(const Scrubber& scrubber, Cut cut = Cut::kNowhere) : scrubber_(scrubber), cut_(cut) {}
  std::string take(std::string_view piece);
  std::string finish(std::string_view last = {});

 private:
  std::string withhold(std::string_view piece);
  struct Kept {
    std::size_t from = 0;  // what may be a beginning
    std::size_t untold = 0;  // and enough of one to wait for more
  };
  Kept kept_of(const Scrubber::Seen& seen) const;
  bool is_told_at_once(std::size_t from) const;

  const Scrubber& scrubber_;
  Cut cut_;  // the beginning only until there was a piece
  std::string text_;  // what was told of it already and may be a beginning, and what was not told
  std::size_t told_ = 0;  // how much of it was
  std::size_t fresh_ = 0;  // how much of it has not been looked at
  bool withheld_ = false;  // that was said
};

}  // namespace hutch::secret
