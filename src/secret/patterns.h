// What to look for in texts: the values of secrets, and how far a text has one. Pure, and linear in the text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace hutch::secret {

class Patterns {
 public:
  static constexpr std::size_t kBytesMin = 6;
  // By so many of its first bytes a longer value is known: what is left of one that was cut short is one too.
  static constexpr std::size_t kHeadBytes = 64;

  // `of` is what a match says it is of. Shorter ones than kBytesMin are none.
  void add(std::string_view value, std::size_t of);
  void finish();  // after the last one
  bool empty() const { return values_.empty(); }

  struct Match {
    std::size_t at = 0;
    std::size_t size = 0;
    std::size_t of = 0;
  };
  // From the first on, of several at one place the longest; none within another.
  std::vector<Match> matches(std::string_view text) const;

  // Where in the text something begins that reaches its end and is the beginning of a value, without being all of it.
  // In order.
  std::vector<Match> begun(std::string_view text) const;
  // Whether a value's first byte has these as its first bits.
  bool may_begin(unsigned bits, unsigned value) const;

  // The longest beginning of the text that is the end of a value, if it has `least` bytes and is not all of it.
  Match ended(std::string_view text, std::size_t least) const;

 private:
  struct Value {
    std::string text;
    std::size_t of = 0;
    std::size_t shorter = kNone;  // the longest other one whose head this one's begins with
  };
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::string_view head(std::size_t index) const { return std::string_view(values_[index].text).substr(0, kHeadBytes); }
  static std::uint64_t key_of(std::string_view text);
  Match longest_at(std::string_view text, std::size_t at) const;
  std::optional<Match> begun_at(std::string_view text, std::size_t at) const;

  std::vector<Value> values_;  // in order
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  std::unordered_map<std::uint64_t, Range> by_key_;  // by their first kBytesMin bytes
  std::vector<std::uint64_t> maybe_;  // a filter before it, a bit for each hash
};

}  // namespace hutch::secret
