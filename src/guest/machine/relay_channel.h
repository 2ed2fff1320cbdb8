// One end of a channel between a host and a machine: the descriptor here, and what is on its way to it.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sys/terminal.h"
#include "wire/channels.h"

namespace hutch::guest {

class RelayChannel {
 public:
  enum class Opened { kHere, kThere };

  // `fd` is the descriptor itself where it was opened here, else the other end of what stands for it.
  static Result<RelayChannel> make(std::uint32_t number, wire::ChannelKind kind, Opened opened, UniqueFd fd);

  std::uint32_t number() const { return number_; }
  wire::ChannelKind kind() const { return kind_; }
  int fd() const { return fd_.get(); }
  // What poll(2) is to wait for; absent: not for this one.
  std::optional<short> awaited() const;
  bool is_over() const { return !sends_ && !receives_; }
  // What a command prints goes by such a one, towards the host.
  bool is_output() const { return kind_ == wire::ChannelKind::kSink || kind_ == wire::ChannelKind::kTerminal; }

  // What is to be sent on because of it, as wire messages; `descriptors` came with the data in front of them.
  struct Taken {
    std::string bytes;
    std::vector<UniqueFd> descriptors;
    bool ended = false;  // nothing more comes from here
  };
  // What there is to read now, as far as there is credit, and no more than so many bytes.
  Result<Taken> take(std::size_t bytes_max);
  // How many bytes are there for that; of a terminal nearly.
  std::size_t to_take() const;

  // From the other side; an error is a broken rule. `order` is the relay's number of it, `of_guest` that of the last
  // before it that a guest said.
  struct Arrived {
    std::string bytes;
    std::vector<UniqueFd> descriptors;
    std::uint64_t order = 0;
    std::uint64_t of_guest = 0;
  };
  Status put(Arrived arrived);
  std::size_t pieces() const { return waiting_.size(); }  // that wait to be written
  // Whether the reader has yet to take at least this many descriptors that came with pieces.
  bool holds_descriptors(std::size_t count);
  // Of the first piece that waits to be written.
  std::optional<std::uint64_t> oldest() const;
  Status add_credit(std::uint32_t bytes);
  void end();   // nothing more comes
  bool stop();  // nobody reads what is sent any more; false: nothing was

  // Writes what can be. How much credit is to be given for it, once that is worth a message.
  struct Written {
    std::uint32_t credit = 0;
    bool stopped = false;  // nobody reads here any more: to be told once
  };
  // Pieces behind that number wait.
  Written write_out(std::uint64_t last);
  // poll(2) says that whoever read here has gone. The answer is as write_out()'s.
  Written lose_reader();

  // Of a terminal that stands for one there: its size, when that has changed since.
  std::optional<sys::TerminalSize> new_size();
  void set_size(sys::TerminalSize size) const;

 private:
  struct Piece {
    std::string bytes;
    std::size_t written = 0;
    std::vector<UniqueFd> descriptors;
    std::uint64_t order = 0;
  };

  RelayChannel(std::uint32_t number, wire::ChannelKind kind, Opened opened, UniqueFd fd);
  bool joins_last(const Arrived& arrived) const;
  Result<std::size_t> write_some(const Piece& piece) const;
  void drop_waiting();
  void settle();  // after the last byte, or when nobody takes it
  void close_sending();

  std::uint32_t number_;
  wire::ChannelKind kind_;
  Opened opened_;
  UniqueFd fd_;
  bool is_socket_ = false;
  bool sends_ = false;     // something may come from here still
  bool receives_ = false;  // or from there
  bool ended_ = false;     // nothing comes from there once what waits is written
  bool refuses_ = false;   // what comes is dropped
  std::uint32_t credit_ = wire::kChannelWindow;   // for what is sent
  std::uint32_t granted_ = wire::kChannelWindow;  // what the other side may still send
  std::uint32_t to_grant_ = 0;
  std::deque<Piece> waiting_;
  std::size_t descriptors_waiting_ = 0;
  std::size_t descriptors_written_ = 0;  // since everything was read last
  std::optional<sys::TerminalSize> size_;
};

}  // namespace hutch::guest
