// Finding values in texts, however they are spelled, and taking them out.
#include "secret/scrubber.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "secret/patterns.h"
#include "secret/spelling.h"

namespace hutch::secret {

namespace {

static_assert(kScrubbedBytesMin == Patterns::kBytesMin);

constexpr unsigned kBitsMin = 4;
constexpr int kDepthMax = 2;  // base64 or hex within base64 or hex
// What is looked at takes some forty times its size: of a longer text one piece after the other is.
constexpr std::size_t kPieceBytes = 256 << 10;
constexpr std::size_t kHeldBytesMax = 4 << 20;
constexpr std::size_t kOftenBytes = 4 << 10;

bool is_line_end(char c) { return c == '\n' || c == '\r'; }

// In a form a blank is written so.
void fold(std::string& text) { std::ranges::replace(text, '+', ' '); }

bool is_cut_at_begin(Cut cut) { return cut == Cut::kBegin || cut == Cut::kBoth; }
bool is_cut_at_end(Cut cut) { return cut == Cut::kEnd || cut == Cut::kBoth; }

// What programs put before each line (grep -n, diff) lies between the lines of a value: each is found by itself.
std::vector<std::string_view> lines_of(std::string_view value) {
  static constexpr std::size_t kLineBytesMin = 16;
  std::vector<std::string_view> lines;
  if (!value.contains('\n')) return lines;
  for (std::string_view line : split(value, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    // Of PEM (RFC 7468), the same for everybody's.
    if (line.size() >= kLineBytesMin && !line.starts_with("-----")) lines.push_back(line);
  }
  return lines;
}

}  // namespace

struct Scrubber::Known {
  Patterns as_they_are;  // without line ends
  Patterns plain;
  std::vector<std::string> names;
};

struct Scrubber::Looking {
  Cut cut;
  Rest rest;
  Seen seen{};
};

Scrubber::Scrubber(const std::vector<Secret>& secrets) {
  auto known = std::make_shared<Known>();
  for (const Secret& secret : secrets) {
    const std::size_t of = known->names.size();
    known->names.push_back(secret.name);
    const Unspelled value = as_it_is(secret.value);
    if (value.size() < kScrubbedBytesMin) continue;
    known->as_they_are.add(without_line_ends(value).text, of);
    // What its last characters are read as depends on what comes behind them: it is found without those as well.
    std::string whole = plainly(value, Rest::kNone).text;
    std::string sure = plainly(value, Rest::kMayCome).text;
    while (sure.ends_with('$')) sure.pop_back();
    fold(whole);
    fold(sure);
    known->plain.add(whole, of);
    known->plain.add(sure, of);
    for (const std::string_view line : lines_of(secret.value)) known->as_they_are.add(std::string(line), of);
  }
  known->as_they_are.finish();
  known->plain.finish();
  if (!known->as_they_are.empty() || !known->plain.empty()) patterns_ = std::move(known);
}

Scrubber Scrubber::withholding(std::string_view why) {
  Scrubber made({});
  made.withheld_ = cat({"[withheld: the agent's secrets cannot be read: ", why, "]"});
  return made;
}

void Scrubber::find(const Patterns& patterns, const Unspelled& text, Looking& looking) const {
  for (const Patterns::Match& match : patterns.matches(text.text)) {
    looking.seen.places.push_back({text.begin[match.at], text.end[match.at + match.size - 1], match.of});
  }
  if (is_cut_at_begin(looking.cut)) {
    const Patterns::Match match = patterns.ended(text.text, kScrubbedBytesMin);
    if (match.size > 0) looking.seen.places.push_back({0, text.end[match.size - 1], match.of});
  }
  if (looking.rest == Rest::kNone) return;
  for (const Patterns::Match& match : patterns.begun(text.text)) {
    looking.seen.begun.push_back({text.begin[match.at], match.size, match.of});
  }
}

void Scrubber::look_into(const Unspelled& text, int depth, Looking& looking) const {
  find(patterns_->as_they_are, without_line_ends(text), looking);
  Unspelled plain = plainly(text, looking.rest);
  if (plain.pending) {
    // An escape that may be the first of a value's. Or bits of what comes next: these are kept in mind, for by them it
    // is read, and held back where a value begins with them and few other words would.
    const bool may_begin = plain.bits >= kBitsMin && (patterns_->as_they_are.may_begin(plain.bits, plain.value) ||
                                                      patterns_->plain.may_begin(plain.bits, plain.value));
    looking.seen.begun.push_back({*plain.pending, 0, 0, plain.bits == 0 || may_begin});
  }
  std::string as_read = plain.text;
  fold(plain.text);
  find(patterns_->plain, plain, looking);
  if (depth == kDepthMax) return;
  plain.text = std::move(as_read);
  for (unsigned phase = 0; phase < 4; ++phase) {
    const Unspelled inner = from_base64_runs(plain, phase, kScrubbedBytesMin, looking.rest);
    if (inner.size() > 0 || inner.pending) look_into(inner, depth + 1, looking);
  }
  for (unsigned phase = 0; phase < 2; ++phase) {
    const Unspelled inner = from_hex_runs(plain, phase, kScrubbedBytesMin, looking.rest);
    if (inner.size() > 0 || inner.pending) look_into(inner, depth + 1, looking);
  }
}

Scrubber::Seen Scrubber::look(std::string_view text, Cut cut) const {
  Looking looking{cut, is_cut_at_end(cut) ? Rest::kMayCome : Rest::kNone};
  look_into(as_it_is(text), 0, looking);
  looking.seen.places = joined(std::move(looking.seen.places));
  return std::move(looking.seen);
}

// Where several are found, or one in several ways, all of it goes.
std::vector<Scrubber::Place> Scrubber::joined(std::vector<Place> places) {
  std::ranges::sort(
      places, [](const Place& a, const Place& b) { return a.begin != b.begin ? a.begin < b.begin : a.end > b.end; });
  std::vector<Place> made;
  for (const Place& place : places) {
    if (!made.empty() && place.begin < made.back().end) {
      made.back().end = std::max(made.back().end, place.end);
    } else {
      made.push_back(place);
    }
  }
  return made;
}

std::string Scrubber::without(std::string_view text, const Seen& seen, std::size_t from, std::size_t until) const {
  std::string made;
  for (const Place& place : seen.places) {
    if (place.end <= from || place.begin >= until) continue;
    if (place.begin > from) made += text.substr(from, place.begin - from);
    made += cat({"[REDACTED:", patterns_->names[place.of], "]"});
    from = place.end;
  }
  return made += from < until ? text.substr(from, until - from) : std::string_view();
}

std::string Scrubber::scrub(std::string_view text, Cut cut) const {
  if (empty()) return std::string(text);
  ScrubbedStream stream(*this, cut);
  std::string made;
  for (; text.size() > kPieceBytes; text.remove_prefix(kPieceBytes)) made += stream.take(text.substr(0, kPieceBytes));
  return made += stream.finish(text);
}

std::string ScrubbedStream::withhold(std::string_view piece) {
  if (piece.empty() || std::exchange(withheld_, true)) return {};
  return scrubber_.withheld();
}

// Of what may be the beginning of a value, the first; what ends a value begins none.
ScrubbedStream::Kept ScrubbedStream::kept_of(const Scrubber::Seen& seen) const {
  Kept kept{text_.size(), text_.size()};
  for (const auto& begun : seen.begun) {
    const auto is_around = [&](const Scrubber::Place& one) { return one.begin < begun.begin && begun.begin < one.end; };
    if (begun.begin >= kept.untold || std::ranges::any_of(seen.places, is_around)) continue;
    kept.from = std::min(kept.from, begun.begin);
    if (begun.strong) kept.untold = begun.begin;
  }
  return kept;
}

// Behind a line end few bytes are not waited with: a line that happens to end so would be shown when the next one
// comes.
bool ScrubbedStream::is_told_at_once(std::size_t from) const {
  static constexpr std::ptrdiff_t kBeforeLineEndMin = 4;
  if (text_.empty() || !is_line_end(text_.back())) return false;
  const auto begin = text_.begin() + static_cast<std::ptrdiff_t>(from);
  return std::count_if(begin, text_.end(), [](char c) { return !is_line_end(c); }) < kBeforeLineEndMin;
}

std::string ScrubbedStream::take(std::string_view piece) {
  if (!scrubber_.withheld().empty()) return withhold(piece);
  if (scrubber_.empty()) return std::string(piece);
  text_ += piece;
  fresh_ += piece.size();
  // A value that comes a byte at a time is not looked at with each.
  if (text_.size() > kOftenBytes && fresh_ < text_.size() / 8) return {};
  const Scrubber::Seen seen = scrubber_.look(text_, is_cut_at_begin(cut_) ? Cut::kBoth : Cut::kEnd);
  const auto [from, untold] = kept_of(seen);
  const std::size_t until = is_told_at_once(untold) ? text_.size() : untold;
  std::string made = scrubber_.without(text_, seen, told_, until);
  told_ = std::max(told_, until) - from;
  if (from > 0) cut_ = is_cut_at_end(cut_) ? Cut::kEnd : Cut::kNowhere;
  text_.erase(0, from);
  fresh_ = 0;
  if (text_.size() > kHeldBytesMax) {
    made += "[REDACTED]";
    text_.clear();
    told_ = 0;
    // What comes next may be the rest of what was not shown.
    cut_ = is_cut_at_end(cut_) ? Cut::kBoth : Cut::kBegin;
  }
  return made;
}

std::string ScrubbedStream::finish(std::string_view last) {
  if (!scrubber_.withheld().empty()) return withhold(last);
  if (scrubber_.empty()) return std::string(last);
  text_ += last;
  Scrubber::Seen seen = scrubber_.look(text_, cut_);
  for (const auto& begun : seen.begun) {
    if (begun.bytes >= kScrubbedBytesMin) seen.places.push_back({begun.begin, text_.size(), begun.of});
  }
  seen.places = Scrubber::joined(std::move(seen.places));
  std::string made = scrubber_.without(text_, seen, told_, text_.size());
  text_.clear();
  told_ = 0;
  fresh_ = 0;
  return made;
}

}  // namespace hutch::secret
