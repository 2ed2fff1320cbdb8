// Finding values.
#include "secret/patterns.h"

#include <algorithm>

namespace hutch::secret {

namespace {

constexpr std::size_t kFilterBits = 1 << 16;

std::size_t filter_bit(std::uint64_t key) { return (key * 0x9e3779b97f4a7c15U) >> 48U; }

std::size_t common(std::string_view a, std::string_view b) {
  const std::size_t most = std::min(a.size(), b.size());
  return static_cast<std::size_t>(
      std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(most), b.begin()).first - a.begin());
}

}  // namespace

std::uint64_t Patterns::key_of(std::string_view text) {
  std::uint64_t key = 0;
  for (const char c : text.substr(0, kBytesMin)) key = (key << 8U) | static_cast<unsigned char>(c);
  return key;
}

void Patterns::add(std::string_view value, std::size_t of) {
  if (value.size() >= kBytesMin) values_.push_back({std::string(value), of});
}

void Patterns::finish() {
  std::ranges::stable_sort(values_, {}, &Value::text);
  const auto same = std::ranges::unique(values_, {}, &Value::text);
  values_.erase(same.begin(), same.end());
  maybe_.assign(kFilterBits / 64, 0);
  std::vector<std::size_t> heads;  // each a beginning of the next
  for (std::size_t i = 0; i < values_.size(); ++i) {
    while (!heads.empty() && !head(i).starts_with(head(heads.back()))) heads.pop_back();
    if (!heads.empty()) values_[i].shorter = heads.back();
    heads.push_back(i);
    const std::uint64_t key = key_of(values_[i].text);
    by_key_.try_emplace(key, Range{i, i}).first->second.end = i + 1;
    maybe_[filter_bit(key) / 64] |= std::uint64_t{1} << (filter_bit(key) % 64);
  }
}

// Those whose head the text has are a chain, from the longest of them on.
Patterns::Match Patterns::longest_at(std::string_view text, std::size_t at) const {
  const std::string_view here = text.substr(at);
  const auto range = by_key_.find(key_of(here));
  if (range == by_key_.end()) return {};
  const auto begin = values_.begin() + static_cast<std::ptrdiff_t>(range->second.begin);
  const auto end = values_.begin() + static_cast<std::ptrdiff_t>(range->second.end);
  const std::string_view first = here.substr(0, kHeadBytes);
  const auto behind = std::upper_bound(begin, end, first, [](std::string_view wanted, const Value& one) {
    return wanted < std::string_view(one.text).substr(0, kHeadBytes);
  });
  Match match{.at = at};
  std::size_t index = behind == begin ? kNone : static_cast<std::size_t>(behind - values_.begin()) - 1;
  for (; index != kNone; index = values_[index].shorter) {
    if (!here.starts_with(head(index))) continue;
    const std::size_t size = common(here, values_[index].text);
    if (size > match.size) match = {at, size, values_[index].of};
  }
  return match;
}

std::vector<Patterns::Match> Patterns::matches(std::string_view text) const {
  std::vector<Match> found;
  if (values_.empty() || text.size() < kBytesMin) return found;
  static constexpr std::uint64_t kMask = (std::uint64_t{1} << (8 * kBytesMin)) - 1;
  std::uint64_t key = key_of(text);
  std::size_t at = 0;
  const auto step = [&](std::size_t count) {
    at += count;
    if (at + kBytesMin > text.size()) return;
    key = count == 1 ? ((key << 8U) | static_cast<unsigned char>(text[at + kBytesMin - 1])) & kMask
                     : key_of(text.substr(at));
  };
  while (at + kBytesMin <= text.size()) {
    const std::size_t bit = filter_bit(key);
    const bool maybe = ((maybe_[bit / 64] >> (bit % 64)) & 1U) != 0;
    const Match match = maybe ? longest_at(text, at) : Match{};
    if (match.size > 0) found.push_back(match);
    step(std::max<std::size_t>(match.size, 1));
  }
  return found;
}

// Of the bytes from `at` on, all that there are.
std::optional<Patterns::Match> Patterns::begun_at(std::string_view text, std::size_t at) const {
  const std::string_view here = text.substr(at);
  const auto before = [](const Value& one, std::string_view wanted) { return std::string_view(one.text) < wanted; };
  auto found = std::lower_bound(values_.begin(), values_.end(), here, before);
  // It may be all of one, and the beginning of the next.
  while (found != values_.end() && found->text.size() == here.size()) ++found;
  if (found == values_.end() || !found->text.starts_with(here)) return std::nullopt;
  return Match{at, here.size(), found->of};
}

std::vector<Patterns::Match> Patterns::begun(std::string_view text) const {
  std::vector<Match> found;
  if (values_.empty()) return found;
  const auto look_at = [&](std::size_t at) {
    if (const auto one = begun_at(text, at)) found.push_back(*one);
  };
  // What is as long as a head has been found by it.
  for (const Match& match : matches(text)) {
    if (match.size >= kHeadBytes && match.at + match.size == text.size()) look_at(match.at);
  }
  const std::size_t first = text.size() < kHeadBytes ? 0 : text.size() - kHeadBytes + 1;
  for (std::size_t at = first; at < text.size(); ++at) look_at(at);
  return found;
}

bool Patterns::may_begin(unsigned bits, unsigned value) const {
  const auto has = [&](const Value& one) {
    return static_cast<unsigned>(static_cast<unsigned char>(one.text.front())) >> (8U - bits) == value;
  };
  return std::ranges::any_of(values_, has);
}

// By the prefix function of the text's beginning, in which each value is gone through (Knuth, Morris, Pratt).
Patterns::Match Patterns::ended(std::string_view text, std::size_t least) const {
  Match longest;
  std::size_t most = 0;
  for (const Value& value : values_) most = std::max(most, value.text.size());
  const std::string_view begin = text.substr(0, most);
  if (begin.size() < least) return longest;
  std::vector<std::size_t> border(begin.size(), 0);
  const auto follow = [&](std::size_t have, char c) {
    while (have > 0 && (have == begin.size() || begin[have] != c)) have = border[have - 1];
    return have < begin.size() && begin[have] == c ? have + 1 : have;
  };
  for (std::size_t i = 1; i < begin.size(); ++i) border[i] = follow(border[i - 1], begin[i]);
  for (const Value& value : values_) {
    std::size_t have = 0;
    for (const char c : value.text) have = follow(have, c);
    if (have >= least && have > longest.size && have < value.text.size()) longest = {0, have, value.of};
  }
  return longest;
}

}  // namespace hutch::secret
