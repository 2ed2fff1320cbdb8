// One pass over JSON text that builds nothing: deep nesting and twice written keys never reach a tree.
#include "policy/json_check.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/limits.h"
#include "base/text.h"

namespace hutch::policy {

namespace {

using nlohmann::json;

// Stops at the first thing that is wrong (by returning false) and keeps the reason. Positions are known for syntax
// errors alone: the SAX interface does not tell them otherwise.
class Checker : public nlohmann::json_sax<json> {
 public:
  explicit Checker(std::string_view text) : text_(text) {}
  const std::string& reason() const { return reason_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    if (keys_.back().insert(name).second) return true;
    reason_ = cat({"the key \"", printable(name), "\" is written twice"});
    return false;
  }

  bool parse_error(std::size_t position, const std::string&, const json::exception&) override {
    const std::string_view before = text_.substr(0, position > 0 ? position - 1 : 0);
    const auto line = std::ranges::count(before, '\n') + 1;
    const std::size_t newline = before.rfind('\n');
    const std::size_t column = newline == std::string_view::npos ? before.size() + 1 : before.size() - newline;
    reason_ = cat({"line ", std::to_string(line), ", column ", std::to_string(column), ": not JSON"});
    return false;
  }

 private:
  bool open() {
    keys_.emplace_back();
    if (keys_.size() <= limits::kJsonDepthMax) return true;
    reason_ = cat({"nested deeper than ", std::to_string(limits::kJsonDepthMax)});
    return false;
  }
  bool close() {
    keys_.pop_back();
    return true;
  }

  std::string_view text_;
  std::string reason_;
  std::vector<std::set<std::string, std::less<>>> keys_;
};

}  // namespace

Status check_json(std::string_view text) {
  if (text.size() > limits::kJsonBytesMax) {
    return fail(Error::invalid(cat({"larger than ", std::to_string(limits::kJsonBytesMax), " bytes"})));
  }
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return fail(Error::invalid("empty"));
  // The reader would take a NUL byte for the end and never see the rest.
  if (text.find('\0') != std::string_view::npos) return fail(Error::invalid("holds a NUL byte: not JSON"));
  Checker checker(text);
  if (json::sax_parse(text.begin(), text.end(), &checker)) return {};
  return fail(Error::invalid(checker.reason()));
}

}  // namespace hutch::policy
