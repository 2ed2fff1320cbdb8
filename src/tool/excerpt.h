// What of a long text a model is shown: whole characters from its start and its end, and how much is missing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "tool/place.h"

namespace hutch::tool {

// Budgets in characters (code points of UTF-8).
inline constexpr std::size_t kOutputCharacters = 50'000;
inline constexpr std::size_t kErrorCharacters = 10'000;
inline constexpr std::size_t kCombinedCharacters = 50'000;
inline constexpr std::size_t kInstallCharacters = 20'000;

// A byte that belongs to no character counts as one.
std::size_t count_characters(std::string_view text);

// The longest beginning, or end, of at most so many characters; never a part of one.
std::string_view first_characters(std::string_view text, std::size_t count);
std::string_view last_characters(std::string_view text, std::size_t count);

// Without what is left of a character that was cut at its start, or at its end.
std::string_view without_cut_character(std::string_view text);

// Within the budget: all of it; else the first 40 % and the last 60 % of the budget, and between them how many
// characters of how many are left out (bytes that were not even kept are counted as characters).
std::string excerpt(const Kept& kept, std::size_t budget);
std::string excerpt(std::string_view text, std::size_t budget);

}  // namespace hutch::tool
