// Which number an agents' user gets.
#include "plan/setup/os_user_numbers.h"

#include <algorithm>

#include "base/decimal.h"
#include "base/text.h"

namespace hutch::plan {

namespace {

// useradd(8) has these where login.defs(5) says nothing.
constexpr NumberRange kSystemNumbers{101, 999};
constexpr NumberRange kPeople{1000, 60000};

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return words;
    line = line.substr(begin);
    const std::size_t size = std::min(line.find_first_of(" \t"), line.size());
    words.push_back(line.substr(0, size));
    line = line.substr(size);
  }
}

// `range`, but for what the text says.
NumberRange range_of(std::string_view login_defs, NumberRange range, std::string_view first, std::string_view last) {
  for (const std::string_view line : split(login_defs, '\n')) {
    const auto words = words_of(line);
    const auto number = words.size() >= 2 ? decimal_of(words[1]) : std::nullopt;
    if (!number || *number == 0) continue;
    if (words[0] == first) range.first = *number;
    if (words[0] == last) range.last = *number;
  }
  return range;
}

}  // namespace

std::string given_number_line(const GivenNumber& given) { return cat({std::to_string(given.number), " ", given.name}); }

Result<std::vector<GivenNumber>> read_given_numbers(std::string_view text) {
  std::vector<GivenNumber> given;
  for (const std::string_view line : split(text, '\n')) {
    const auto words = words_of(line);
    if (words.empty()) continue;
    const auto number = decimal_of(words[0]);
    if (!number || words.size() != 2) {
      return fail(Error::invalid(cat({kNumbersFile, ": ", printable(line), " is no number with its user"})));
    }
    given.push_back({*number, std::string(words[1])});
  }
  return given;
}

std::optional<std::uint32_t> number_given_to(const std::vector<GivenNumber>& given, std::string_view name) {
  std::optional<std::uint32_t> last;
  for (const GivenNumber& one : given) {
    if (one.name == name) last = one.number;
  }
  return last;
}

std::set<std::uint32_t> numbers_of(std::string_view accounts) {
  std::set<std::uint32_t> numbers;
  for (const std::string_view line : split(accounts, '\n')) {
    const auto fields = split(line, ':');
    const auto number = fields.size() >= 3 ? decimal_of(fields[2]) : std::nullopt;
    if (number) numbers.insert(*number);
  }
  return numbers;
}

std::vector<std::uint32_t> numbers_left(const std::vector<GivenNumber>& given, std::string_view passwd) {
  const std::set<std::uint32_t> taken = numbers_of(passwd);
  std::set<std::uint32_t> left;
  for (const GivenNumber& one : given) {
    if (!taken.contains(one.number)) left.insert(one.number);
  }
  return {left.begin(), left.end()};
}

NumberRange system_numbers(std::string_view login_defs) {
  return range_of(login_defs, kSystemNumbers, "SYS_UID_MIN", "SYS_UID_MAX");
}

NumberRange people_numbers(std::string_view login_defs) { return range_of(login_defs, kPeople, "UID_MIN", "UID_MAX"); }

std::optional<std::uint32_t> free_number(NumberRange range, const std::set<std::uint32_t>& taken,
                                         const std::vector<GivenNumber>& given) {
  for (std::uint32_t number = range.last; number >= range.first && number > 0; --number) {
    const auto has_it = [&](const GivenNumber& one) { return one.number == number; };
    if (!taken.contains(number) && std::ranges::none_of(given, has_it)) return number;
  }
  return std::nullopt;
}

}  // namespace hutch::plan
