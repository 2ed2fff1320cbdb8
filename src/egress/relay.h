// Bytes between two sockets, both ways, moved by the kernel through pipes that are borrowed for as long as they hold
// any.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "egress/loop.h"
#include "sys/io.h"

namespace hutch::egress {

// Pipes that are used again: making one costs more than moving a small message through it.
class PipePool {
 public:
  // Absent when the process or the user has no more of them.
  std::optional<sys::Pipe> take();
  // An empty one.
  void give_back(sys::Pipe pipe);

 private:
  std::vector<sys::Pipe> spare_;
};

// What the client sends on is held until `release_client`; what the upstream sends is relayed from the start.
class Relay {
 public:
  enum class Client { kHeld, kReleased };
  // Whether more can come of it.
  enum class Input { kOpen, kEnded };
  enum class End {
    kWhole,  // both sides have finished
    kReset,  // one of them was cut off
  };

  // `on_end` may destroy the relay. The sockets are the relay's, until `release_sockets`.
  Relay(Loop& loop, PipePool& pipes, UniqueFd client, UniqueFd upstream, std::function<void(End)> on_end);
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;
  ~Relay();

  // `on_held` is called each time something new of a held client has come, or its end.
  Status start(Client client, std::function<void(Input)> on_held);
  void release_client();
  // Passes on the first bytes of a held client, which goes on being held.
  void pass_held(std::size_t size);

  int client() const { return client_.get(); }
  std::uint64_t bytes_up() const { return up_.moved; }
  std::uint64_t bytes_down() const { return down_.moved; }

  struct Sockets {
    UniqueFd client;
    UniqueFd upstream;
  };
  // Nothing has been read of either as long as nothing was moved.
  Sockets release_sockets();

 private:
  // One way. Bytes are in the pipe, or, where there is none to be had, in `copied`.
  struct Way {
    int from = -1;
    int to = -1;
    std::optional<sys::Pipe> pipe;
    std::size_t in_pipe = 0;
    std::string copied;
    std::uint64_t moved = 0;
    bool held = false;
    bool ended = false;      // nothing more will come
    bool done = false;       // and the other side has been told
    bool unwatched = false;  // `from` is closed both ways: what it still holds is all that there is

    bool holds_any() const { return in_pipe > 0 || !copied.empty(); }
  };

  void ready(Way& reads, Way& writes, const sys::Readiness& readiness);
  // kMuch: there is most likely more now.
  enum class Moved { kLittle, kMuch, kBroken };
  Moved move(Way& way);
  Moved fill(Way& way);
  static Moved copy(Way& way);
  Moved drain(Way& way);
  static Moved amount(std::size_t bytes);
  void update_interest();
  void end(End end);

  Loop& loop_;
  PipePool& pipes_;
  UniqueFd client_;
  UniqueFd upstream_;
  Way up_;
  Way down_;
  Loop::Watch client_watch_;
  Loop::Watch upstream_watch_;
  std::function<void(End)> on_end_;
  std::function<void(Input)> on_held_;
};

}  // namespace hutch::egress
