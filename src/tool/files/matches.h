// What `rg --json` prints, read as it comes: matching lines, their number, and text for a model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hutch::tool {

class Matches {
 public:
  enum class Enough { kNo, kYes };

  explicit Matches(std::size_t most) : most_(most) {}

  // The next bytes of rg's output. kYes once there are more matches than may be shown: rg can be ended.
  Enough feed(std::string_view bytes);

  std::size_t count() const { return count_; }  // those shown
  bool truncated() const { return truncated_; }
  bool searched() const { return searched_; }       // rg came to its end: it did read its pattern and its globs
  // "path:12:text" of a match, "path-13-text" of its context, "--" between places of a file that do not touch; files in
  // the order of their names, at most so many characters. Says whether all of it fits.
  struct Text {
    std::string text;
    bool whole = true;
    std::size_t matches = 0;  // in `text`
  };
  Text text(std::size_t characters_max) const;

 private:
  struct Line {
    std::uint64_t number = 0;  // 0: not known
    bool match = false;
    std::string text;
  };

  enum class Json { kWhole, kStart };
  void take(std::string_view text, Json kind);

  std::size_t most_;
  std::size_t count_ = 0;
  bool truncated_ = false;
  bool searched_ = false;
  std::string pending_;  // a line of JSON whose end has not come
  bool overlong_ = false;
  std::map<std::string, std::vector<Line>> files_;
};

}  // namespace hutch::tool
