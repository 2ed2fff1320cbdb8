// The numbers of agents' OS users: none is given to another user after its own, whom files may still name.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hutch::plan {

// A line for each user that was ever made: "NUMBER NAME".
inline constexpr std::string_view kNumbersFile = "/etc/hutch-helper/numbers";

struct GivenNumber {
  std::uint32_t number = 0;
  std::string name;
};

// Without the end of the line.
std::string given_number_line(const GivenNumber& given);
// What is no such line is an error: it may have been one.
Result<std::vector<GivenNumber>> read_given_numbers(std::string_view text);

// The last that a user of that name had.
std::optional<std::uint32_t> number_given_to(const std::vector<GivenNumber>& given, std::string_view name);

// The numbers of users or of groups, from the text of passwd(5) or group(5).
std::set<std::uint32_t> numbers_of(std::string_view accounts);

// Of users that were removed, and are nobody's now: files may still run as one of them (set-user-ID).
std::vector<std::uint32_t> numbers_left(const std::vector<GivenNumber>& given, std::string_view passwd);

struct NumberRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};
// Of system users, from the text of login.defs(5).
NumberRange system_numbers(std::string_view login_defs);
// The same of people.
NumberRange people_numbers(std::string_view login_defs);

// The highest that is in none of the two, as useradd(8) chooses; absent where there is none left.
std::optional<std::uint32_t> free_number(NumberRange range, const std::set<std::uint32_t>& taken,
                                         const std::vector<GivenNumber>& given);

}  // namespace hutch::plan
