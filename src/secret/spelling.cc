// Reading back what programs spell otherwise.
#include "secret/spelling.h"

#include <algorithm>
#include <array>
#include <utility>

namespace hutch::secret {

namespace {

constexpr std::size_t kReachMax = 14;  // the longest escape, of which leading zeros are left out
constexpr std::uint32_t kPointMax = 0x10ffff;

bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }
bool is_octal(char c) { return c >= '0' && c <= '7'; }
bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
int hex_digit(char c) {
  if (is_ascii_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}
bool is_hex(char c) { return hex_digit(c) >= 0; }
bool is_introducer(char c) { return c == '%' || c == '&' || c == '\\'; }
bool is_quote(char c) { return c == '\'' || c == '"'; }

std::uint32_t number_of(std::string_view digits, std::uint32_t base) {
  std::uint32_t number = 0;
  for (const char c : digits) {
    number = number * base + static_cast<std::uint32_t>(hex_digit(c));
    if (number > kPointMax) return kPointMax;
  }
  return number;
}

char of_point(std::uint32_t point) { return point < 0x80 ? static_cast<char>(point) : kOther; }

struct Entity {
  std::string_view name;
  char is;
};
// Those of ASCII (HTML standard, "Named character references").
constexpr std::array kEntities = {
    Entity{"AMP", '&'},    Entity{"GT", '>'},    Entity{"Hat", '^'},    Entity{"LT", '<'},     Entity{"NewLine", '\n'},
    Entity{"QUOT", '"'},   Entity{"Tab", '\t'},  Entity{"amp", '&'},    Entity{"apos", '\''},  Entity{"ast", '*'},
    Entity{"bsol", '\\'},  Entity{"colon", ':'}, Entity{"comma", ','},  Entity{"commat", '@'}, Entity{"dollar", '$'},
    Entity{"equals", '='}, Entity{"excl", '!'},  Entity{"grave", '`'},  Entity{"gt", '>'},     Entity{"lbrace", '{'},
    Entity{"lbrack", '['}, Entity{"lcub", '{'},  Entity{"lowbar", '_'}, Entity{"lpar", '('},   Entity{"lsqb", '['},
    Entity{"lt", '<'},     Entity{"num", '#'},   Entity{"percnt", '%'}, Entity{"period", '.'}, Entity{"plus", '+'},
    Entity{"quest", '?'},  Entity{"quot", '"'},  Entity{"rbrace", '}'}, Entity{"rbrack", ']'}, Entity{"rcub", '}'},
    Entity{"rpar", ')'},   Entity{"rsqb", ']'},  Entity{"semi", ';'},   Entity{"sol", '/'},    Entity{"verbar", '|'},
    Entity{"vert", '|'}};
static_assert(std::ranges::is_sorted(kEntities, {}, &Entity::name));
// Which hold without ";" as well.
constexpr std::array<std::string_view, 8> kBare = {"AMP", "GT", "LT", "QUOT", "amp", "gt", "lt", "quot"};

const Entity* entity_of(std::string_view name) {
  const auto found = std::ranges::lower_bound(kEntities, name, {}, &Entity::name);
  return found != kEntities.end() && found->name == name ? &*found : nullptr;
}

// What a letter behind a backslash stands for, in C, in JSON and in shells.
std::optional<char> control_of(char c) {
  static constexpr std::string_view kNames = "abefnrtv";
  static constexpr std::string_view kControls = "\a\b\033\f\n\r\t\v";
  const std::size_t at = kNames.find(c);
  return at == std::string_view::npos ? std::nullopt : std::optional(kControls[at]);
}

// How an escape goes on with one more character.
enum class Step { kNo, kGoesOn, kIsWhole, kWasWhole };

// What was read lies on a stack, whose top is an escape that may go on. Whatever an escape stands for is read like any
// other character: it may be a part of another. Places are of the text that is read.
class Reader {
 public:
  explicit Reader(const Unspelled& from) : from_(from) { made_.text.reserve(from.size()); }
  Unspelled read(Rest rest);

 private:
  struct Read {
    char c;
    std::uint32_t from;
    std::uint32_t to;
    bool ended_bare = false;  // no character, but: an entity has ended without its ";"
  };
  void take(Read first);
  std::optional<std::size_t> open() const;  // the place of the introducer of an escape that may go on
  Step step(std::string_view escape, char c) const;
  Step step_of_backslash(std::string_view escape, char c) const;
  Step step_of_entity(std::string_view escape, char c) const;
  char meaning(std::string_view escape) const;
  void settle(Read read);
  void go_on(std::size_t at, const std::string& escape, const Read& read);
  void push(Read read);
  bool pass_over(const Read& read);
  void break_off(std::size_t at);
  Read pop_from(std::size_t at, char is, std::uint32_t to);
  void finish(Rest rest);

  const Unspelled& from_;
  Unspelled made_;
  std::vector<Read> again_;     // what is to be read next, the last first
  std::size_t introduced_ = 0;  // the size behind the last introducer
  bool after_line_end_ = false;
  std::size_t bare_ = 0;  // the size behind an entity that had no ";" so far
};

bool is_bare(std::string_view name) { return std::ranges::find(kBare, name) != kBare.end(); }

void Reader::take(Read first) {
  again_.push_back(first);
  while (!again_.empty()) {
    const Read read = again_.back();
    again_.pop_back();
    if (read.ended_bare) {
      bare_ = made_.size();
    } else {
      settle(read);
    }
  }
}

std::optional<std::size_t> Reader::open() const {
  const std::size_t size = made_.size();
  if (introduced_ == 0 || size > introduced_ + kReachMax) return std::nullopt;
  for (std::size_t at = size; at > 0 && size - at <= kReachMax; --at) {
    if (is_introducer(made_.text[at - 1])) return at - 1;
  }
  return std::nullopt;
}

Step Reader::step_of_backslash(std::string_view escape, char c) const {
  if (escape.size() == 1) {
    if (control_of(c)) return Step::kIsWhole;
    return is_octal(c) || c == 'x' || c == 'u' || c == 'U' ? Step::kGoesOn : Step::kNo;
  }
  const char kind = escape[1];
  if (is_octal(kind)) {
    if (!std::ranges::all_of(escape.substr(1), is_octal)) return Step::kNo;
    if (!is_octal(c)) return Step::kWasWhole;
    return escape.size() == 3 ? Step::kIsWhole : Step::kGoesOn;
  }
  const std::string_view rest = escape.substr(2);
  const bool braced = rest.starts_with('{');
  const std::string_view digits = rest.substr(braced ? 1 : 0);
  if ((kind != 'x' && kind != 'u' && kind != 'U') || !std::ranges::all_of(digits, is_hex)) return Step::kNo;
  if (braced)
    return c == '}' && !digits.empty() ? Step::kIsWhole : is_hex(c) && digits.size() < 6 ? Step::kGoesOn : Step::kNo;
  if (c == '{' && digits.empty()) return Step::kGoesOn;
  const std::size_t most = kind == 'x' ? 2 : kind == 'u' ? 4 : 8;
  if (is_hex(c)) return digits.size() + 1 == most ? Step::kIsWhole : Step::kGoesOn;
  return digits.empty() ? Step::kNo : Step::kWasWhole;
}

Step Reader::step_of_entity(std::string_view escape, char c) const {
  const std::string_view name = escape.substr(1);
  if (!name.starts_with('#')) {
    if (!std::ranges::all_of(name, is_ascii_letter)) return Step::kNo;
    if (c == ';') return entity_of(name) != nullptr ? Step::kIsWhole : Step::kNo;
    if (name.empty() && c == '#') return Step::kGoesOn;
    if (!is_ascii_letter(c) || name.size() >= 7) return Step::kNo;
    return is_bare(std::string(name) + c) ? Step::kIsWhole : Step::kGoesOn;
  }
  const bool hex = name.size() > 1 && (name[1] == 'x' || name[1] == 'X');
  const std::string_view digits = name.substr(hex ? 2 : 1);
  if (!std::ranges::all_of(digits, hex ? is_hex : is_ascii_digit)) return Step::kNo;
  if (name.size() == 1 && (c == 'x' || c == 'X')) return Step::kGoesOn;
  if (hex ? is_hex(c) : is_ascii_digit(c)) return digits.size() < 8 ? Step::kGoesOn : Step::kNo;
  if (digits.empty()) return Step::kNo;
  return c == ';' ? Step::kIsWhole : Step::kWasWhole;
}

Step Reader::step(std::string_view escape, char c) const {
  if (escape.front() == '\\') return step_of_backslash(escape, c);
  if (escape.front() == '&') return step_of_entity(escape, c);
  if (!is_hex(c) || escape.size() > 2 || (escape.size() == 2 && !is_hex(escape[1]))) return Step::kNo;
  return escape.size() == 2 ? Step::kIsWhole : Step::kGoesOn;
}

// Of one that is whole, without the ";" or "}" that may end it.
char Reader::meaning(std::string_view escape) const {
  const std::string_view rest = escape.substr(1);
  if (escape.front() == '%') return of_point(number_of(rest, 16));
  if (escape.front() == '&') {
    if (!rest.starts_with('#')) return entity_of(rest)->is;
    const bool hex = rest[1] == 'x' || rest[1] == 'X';
    return of_point(number_of(rest.substr(hex ? 2 : 1), hex ? 16 : 10));
  }
  if (is_octal(rest.front())) return of_point(number_of(rest, 8));
  if (const auto control = control_of(rest.front())) return *control;
  return of_point(number_of(rest.substr(rest.size() > 1 && rest[1] == '{' ? 2 : 1), 16));
}

Reader::Read Reader::pop_from(std::size_t at, char is, std::uint32_t to) {
  const Read read{is, made_.begin[at], to};
  made_.text.resize(at);
  made_.begin.resize(at);
  made_.end.resize(at);
  return read;
}

// It is no escape: a backslash is left out, and the others are themselves.
void Reader::break_off(std::size_t at) {
  if (made_.text[at] != '\\') return;
  const auto place = static_cast<std::ptrdiff_t>(at);
  made_.text.erase(at, 1);
  if (at + 1 < made_.begin.size()) made_.begin[at + 1] = made_.begin[at];
  made_.begin.erase(made_.begin.begin() + place);
  made_.end.erase(made_.end.begin() + place);
}

// Whether it is left out.
bool Reader::pass_over(const Read& read) {
  if (read.c == '\n' || read.c == '\r') return after_line_end_ = true;
  if (after_line_end_ && (read.c == ' ' || read.c == '\t')) return true;
  after_line_end_ = false;
  if (read.c != ';' || bare_ == 0 || bare_ != made_.size()) return false;
  made_.end.back() = read.to;
  bare_ = 0;
  return true;
}

void Reader::push(Read read) {
  const bool top = made_.size() > 0;
  if (is_quote(read.c)) {
    // As in $'...' and $"..." of shells.
    if (top && made_.text.back() == '$') (void)pop_from(made_.size() - 1, '$', 0);
    return;
  }
  if (static_cast<unsigned char>(read.c) >= 0x80) read.c = kOther;
  if (read.c == kOther && top && made_.text.back() == kOther) {
    made_.end.back() = read.to;
    return;
  }
  made_.add(read.c, read.from, read.to);
  if (is_introducer(read.c)) introduced_ = made_.size();
}

void Reader::settle(Read read) {
  if (pass_over(read)) return;
  const auto at = open();
  if (!at) return push(read);
  const std::string escape = made_.text.substr(*at);
  // A run of backslashes says no more than one: each level of escaping doubles it. Leading zeros say nothing.
  static constexpr std::array<std::string_view, 5> kZero = {"&#0", "&#x0", "&#X0", "\\u{0", "\\x{0"};
  const bool again = escape == "\\" && read.c == '\\';
  if (again || (read.c == '0' && std::ranges::find(kZero, escape) != kZero.end())) {
    made_.end.back() = read.to;
    return;
  }
  go_on(*at, escape, read);
}

void Reader::go_on(std::size_t at, const std::string& escape, const Read& read) {
  const Step goes = step(escape, read.c);
  if (goes == Step::kGoesOn) return made_.add(read.c, read.from, read.to);
  if (goes == Step::kIsWhole) {
    const bool ends_it = read.c == ';' || read.c == '}';
    if (escape.front() == '&' && !ends_it) again_.push_back({'\0', 0, 0, true});
    again_.push_back(pop_from(at, meaning(ends_it ? escape : escape + read.c), read.to));
    return;
  }
  // Where the escape's own characters are escaped, its next one may be what begins here.
  const bool is_spelled = made_.end.back() - made_.begin.back() > 1;
  if (is_introducer(read.c) && is_spelled) return push(read);
  if (goes == Step::kWasWhole) {
    again_.push_back(read);
    if (escape.front() == '&') again_.push_back({'\0', 0, 0, true});
    again_.push_back(pop_from(at, meaning(escape), made_.end.back()));
    return;
  }
  break_off(at);
  push(read);
}

void Reader::finish(Rest rest) {
  for (auto at = open(); at; at = open()) {
    const std::string escape = made_.text.substr(*at);
    const auto may_have = [&](char c) { return step(escape, c) != Step::kNo; };
    const bool goes_on = escape.size() == 1 || may_have('0') || may_have('a') || may_have(';') || may_have('}');
    if (!goes_on) return;
    if (rest == Rest::kMayCome) {
      made_.pending = made_.begin[*at];
      (void)pop_from(*at, '\0', 0);
      continue;
    }
    if (step(escape, '\x01') != Step::kWasWhole) return;
    take(pop_from(*at, meaning(escape), made_.end.back()));
  }
}

Unspelled Reader::read(Rest rest) {
  for (std::size_t i = 0; i < from_.size(); ++i) {
    const auto at = static_cast<std::uint32_t>(i);
    take({from_.text[i], at, at + 1});
  }
  finish(rest);
  for (std::uint32_t& place : made_.begin) place = from_.begin[place];
  for (std::uint32_t& place : made_.end) place = from_.end[place - 1];
  if (made_.pending) {
    made_.pending = from_.begin[*made_.pending];
  } else {
    made_.pending = from_.pending;
    made_.bits = from_.bits;
    made_.value = from_.value;
  }
  return std::move(made_);
}

int base64_digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (is_ascii_digit(c)) return c - '0' + 52;
  if (c == '+' || c == '-') return 62;
  if (c == '/' || c == '_') return 63;
  return -1;
}

// Bytes of digits that have so many bits each.
class Bits {
 public:
  Bits(Unspelled& made, unsigned width) : made_(made), width_(width) {}
  // Without its first `skipped` bits, at most one digit.
  void begin(unsigned skipped) {
    bits_ = 0;
    skipped_ = skipped;
    if (made_.size() > 0) made_.add('\0', made_.end.back(), made_.end.back());
  }
  void take(unsigned digit, std::uint32_t from, std::uint32_t to) {
    if (bits_ == 0) from_ = from;
    const unsigned width = width_ - std::exchange(skipped_, 0);
    value_ = (value_ << width) | (digit & ((1U << width) - 1U));
    bits_ += width;
    if (bits_ < 8) return;
    bits_ -= 8;
    made_.add(static_cast<char>((value_ >> bits_) & 0xffU), from_, to);
    from_ = from;
    value_ &= (1U << bits_) - 1U;
  }
  void leave_pending() {
    if (bits_ == 0) return;
    made_.pending = from_;
    made_.bits = bits_;
    made_.value = value_;
  }

 private:
  Unspelled& made_;
  const unsigned width_;
  unsigned skipped_ = 0;
  unsigned bits_ = 0;
  unsigned value_ = 0;
  std::uint32_t from_ = 0;
};

struct Digit {
  unsigned value;
  std::uint32_t from;
  std::uint32_t to;
};

// Runs of digits, as they are found, made into bytes.
class Runs {
 public:
  Runs(unsigned skipped, unsigned width, std::size_t bytes_min, Rest rest)
      : skipped_(skipped), width_(width), digits_min_((bytes_min * 8 + width - 1) / width), rest_(rest) {}
  void take(Digit digit) { run_.push_back(digit); }
  enum class At { kMiddle, kEnd };
  void end_run(At at) {
    const bool goes_on = at == At::kEnd && rest_ == Rest::kMayCome;
    if (!run_.empty() && (run_.size() >= digits_min_ || goes_on)) {
      Bits bits(made_, width_);
      bits.begin(skipped_);
      for (const Digit& digit : run_) bits.take(digit.value, digit.from, digit.to);
      if (goes_on) bits.leave_pending();
    }
    run_.clear();
  }
  Unspelled finish() {
    end_run(At::kEnd);
    return std::move(made_);
  }

 private:
  const unsigned skipped_;
  const unsigned width_;
  const std::size_t digits_min_;
  const Rest rest_;
  std::vector<Digit> run_;
  Unspelled made_;
};

}  // namespace

void Unspelled::add(char c, std::uint32_t from, std::uint32_t to) {
  text += c;
  begin.push_back(from);
  end.push_back(to);
}

Unspelled as_it_is(std::string_view text) {
  Unspelled made;
  made.text = text;
  made.begin.resize(text.size());
  made.end.resize(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    made.begin[i] = static_cast<std::uint32_t>(i);
    made.end[i] = static_cast<std::uint32_t>(i + 1);
  }
  return made;
}

Unspelled without_line_ends(const Unspelled& text) {
  Unspelled made;
  made.text.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.text[i] != '\n' && text.text[i] != '\r') made.add(text.text[i], text.begin[i], text.end[i]);
  }
  made.pending = text.pending;
  made.bits = text.bits;
  made.value = text.value;
  return made;
}

Unspelled plainly(const Unspelled& text, Rest rest) { return Reader(text).read(rest); }

Unspelled from_base64_runs(const Unspelled& text, unsigned phase, std::size_t bytes_min, Rest rest) {
  Runs runs(2 * phase, 6, bytes_min, rest);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int digit = base64_digit(text.text[i]);
    if (digit < 0) {
      runs.end_run(Runs::At::kMiddle);
    } else {
      runs.take({static_cast<unsigned>(digit), text.begin[i], text.end[i]});
    }
  }
  return runs.finish();
}

Unspelled from_hex_runs(const Unspelled& text, unsigned phase, std::size_t bytes_min, Rest rest) {
  static constexpr std::string_view kBetween = " \t:,-";
  Runs runs(4 * phase, 4, bytes_min, rest);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text.text[i];
    const bool is_prefix = c == '0' && i + 1 < text.size() && (text.text[i + 1] == 'x' || text.text[i + 1] == 'X');
    if (is_prefix) {
      ++i;
    } else if (is_hex(c)) {
      runs.take({static_cast<unsigned>(hex_digit(c)), text.begin[i], text.end[i]});
    } else if (!kBetween.contains(c)) {
      runs.end_run(Runs::At::kMiddle);
    }
  }
  return runs.finish();
}

}  // namespace hutch::secret
