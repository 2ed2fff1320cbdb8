// Numbers with units, by hand: strtod reads hex, infinities and the locale's comma.
#include "policy/units.h"

#include <optional>

#include "base/text.h"

namespace hutch::policy {

namespace {

// A decimal number in thousandths, and what follows it.
struct Number {
  std::uint64_t thousandths = 0;
  std::string_view unit;
};

std::optional<Number> read_number(std::string_view text);
std::optional<std::uint64_t> scaled(std::uint64_t thousandths, std::uint64_t factor);

constexpr std::uint64_t kWholeMax = 1ULL << 50;

}  // namespace

Result<std::chrono::milliseconds> parse_duration(std::string_view text) {
  const auto wrong = [&] {
    return fail(Error::invalid(cat({"\"", printable(text), "\" is not a time; write 500ms, 30s, 10m or 1h"})));
  };
  const std::optional<Number> number = read_number(text);
  if (!number) return wrong();
  std::uint64_t factor = 0;
  if (number->unit == "ms") factor = 1;
  if (number->unit == "s" || number->unit.empty()) factor = 1000;
  if (number->unit == "m" || number->unit == "min") factor = 60'000;
  if (number->unit == "h") factor = 3'600'000;
  const std::optional<std::uint64_t> value = scaled(number->thousandths, factor);
  if (!value || *value > kWholeMax) return wrong();
  return std::chrono::milliseconds(*value);
}

Result<std::uint64_t> parse_size(std::string_view text) {
  const auto wrong = [&] {
    return fail(Error::invalid(cat({"\"", printable(text), "\" is not a size; write 512M, 2G or a number of bytes"})));
  };
  const std::optional<Number> number = read_number(text);
  if (!number) return wrong();
  std::string_view unit = number->unit;
  std::uint64_t factor = 1;
  if (!unit.empty() && unit != "B") {
    static constexpr std::string_view kUnits = "KMGT";
    const char letter = unit.front() == 'k' ? 'K' : unit.front();
    const std::size_t power = kUnits.find(letter);
    unit.remove_prefix(1);
    if (power == std::string_view::npos || (!unit.empty() && unit != "B" && unit != "iB")) return wrong();
    factor = 1ULL << (10 * (power + 1));
  }
  const std::optional<std::uint64_t> value = scaled(number->thousandths, factor);
  if (!value) return wrong();
  return *value;
}

Result<std::uint64_t> parse_memory(std::string_view text) {
  const std::uint64_t size = TRY(parse_size(text));
  if (size >= kMemoryBytesMin) return size;
  return fail(Error::invalid(
      cat({"\"", printable(text), "\" is too little memory for any command; give at least 4M, better 64M"})));
}

Result<std::uint64_t> parse_cpus(std::string_view text) {
  const std::optional<Number> number = read_number(text);
  if (!number || !number->unit.empty() || number->thousandths == 0) {
    return fail(Error::invalid(cat({"\"", printable(text), "\" is not a number of CPUs; write 2 or 1.5"})));
  }
  return number->thousandths;
}

namespace {

std::optional<Number> read_number(std::string_view text) {
  std::uint64_t whole = 0;
  std::size_t at = 0;
  const auto digit = [&] { return at < text.size() && text[at] >= '0' && text[at] <= '9'; };
  if (!digit()) return std::nullopt;
  for (; digit(); ++at) {
    whole = whole * 10 + static_cast<std::uint64_t>(text[at] - '0');
    if (whole > kWholeMax) return std::nullopt;
  }
  std::uint64_t part = 0;
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (!digit()) return std::nullopt;
    for (std::uint64_t weight = 100; digit(); ++at, weight /= 10) {
      part += weight * static_cast<std::uint64_t>(text[at] - '0');
    }
  }
  return Number{whole * 1000 + part, text.substr(at)};
}

// Nothing for 0 and for what does not fit.
std::optional<std::uint64_t> scaled(std::uint64_t thousandths, std::uint64_t factor) {
  std::uint64_t value = 0;
  if (factor == 0 || __builtin_mul_overflow(thousandths, factor, &value)) return std::nullopt;
  value /= 1000;
  if (value == 0) return std::nullopt;
  return value;
}

}  // namespace

}  // namespace hutch::policy
