// Ends this process where nobody reads the terminal that it draws on.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "base/result.h"
#include "sys/event.h"

namespace hutch::tui {

// ncurses writes until everything is written, whatever signals say. While this lives, a process that has been told to
// end (sys::is_told_to_end) and has not after two seconds ends by that signal, with the terminal's modes as they were
// found.
class UnreadWatch {
 public:
  // `signals`: where they arrive, which are blocked. Before anything is drawn.
  static Result<std::unique_ptr<UnreadWatch>> begin(int signals);
  UnreadWatch(int signals, std::string modes, sys::Event over);
  ~UnreadWatch();
  UnreadWatch(const UnreadWatch&) = delete;
  UnreadWatch& operator=(const UnreadWatch&) = delete;

  // What is done meanwhile is not drawing, and takes as long as it takes.
  class Deed {
   public:
    explicit Deed(UnreadWatch& watch) : watch_(watch) { watch_.at_work_ = true; }
    ~Deed() { watch_.at_work_ = false; }
    Deed(const Deed&) = delete;
    Deed& operator=(const Deed&) = delete;

   private:
    UnreadWatch& watch_;
  };

 private:
  void watch() const;
  void end() const;

  const int signals_;
  const std::string modes_;
  const sys::Event over_;
  std::atomic<bool> at_work_ = false;
  std::thread thread_;
};

}  // namespace hutch::tui
