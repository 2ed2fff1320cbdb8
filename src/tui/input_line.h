// A line that is being typed. Pure.
#pragma once

#include <cstddef>
#include <string>

#include "tui/event.h"

namespace hutch::tui {

class InputLine {
 public:
  explicit InputLine(std::string text) : text_(std::move(text)), cursor_(text_.size()) {}

  void press(const Event& event);

  const std::string& text() const { return text_; }
  std::size_t cursor() const { return cursor_; }  // in bytes, between two characters

 private:
  void insert(const std::string& character);
  std::size_t before() const;
  std::size_t after() const;

  std::string text_;
  std::size_t cursor_ = 0;
};

}  // namespace hutch::tui
