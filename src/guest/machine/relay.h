// Carries streams of guests, and the descriptors that travel along with them, across a boundary that takes bytes alone.
#pragma once

#include <poll.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "guest/machine/clock_teller.h"
#include "guest/machine/relay_channel.h"
#include "wire/channels.h"

namespace hutch::guest {

// One thread, which waits for nobody but in poll(2), and has SIGPIPE blocked or ignored. Pipes, sockets and terminals'
// masters travel: from the host's side what a command's streams are; from the machine's, which the host does not trust,
// sockets and terminals alone.
class Relay {
 public:
  enum class Side { kHost, kMachine };
  struct Settings {
    Side side = Side::kHost;
    UniqueFd stream;  // between both sides
    // kMachine: starts a guest, and gives the host's end of its stream.
    std::function<Result<UniqueFd>()> start_guest{};
    // kHost: a pipe whose other end is held by what the machine cannot go on without; where there is one.
    UniqueFd lifeline{};
    // kMachine: hears what time it is for the host; absent: nobody does.
    std::function<Status(std::int64_t clock_ns)> hear_clock{};
  };
  explicit Relay(Settings settings);

  // kHost: the guest that is started there for it speaks by `stream` from here on.
  Status add_guest(UniqueFd stream);

  // Until the stream between both ends, or the lifeline does; on the host's side also until no guest is left. An error:
  // the other side broke a rule, or the stream failed.
  Status run();
  bool is_closed() const { return is_closed_; }  // the stream between both, or the lifeline, has ended

 private:
  // Before channels are forgotten, descriptors for the next data of each of them.
  struct Open {
    RelayChannel channel;
    std::vector<UniqueFd> arrived{};
  };
  using Channels = std::map<std::uint32_t, Open>;

  // What a guest says of a command comes behind what the command has printed by then: with its end the machine goes.
  // In the machine: how much of each output has to be taken before so much of the guest's stream.
  struct Behind {
    std::size_t bytes = 0;
    std::map<std::uint32_t, std::size_t> ahead{};
  };

  bool is_over() const;
  Status turn();
  bool hears() const;
  bool look_for_untaken();
  Status take_messages();
  std::optional<short> awaited(const Open& open) const;
  bool is_held(const RelayChannel& guest);
  std::uint64_t last_to_write(const RelayChannel& channel) const;
  void write_guests();
  Status read_stream();
  Status write_stream();
  Status take(wire::ChannelMessage message);
  Status take(const wire::ChannelOpened& opened);
  Status take(wire::ChannelData data);
  Status take_other(const wire::ChannelMessage& message);
  Status serve(Open& open, short events);
  Status pass_on(Open& open);
  Status pass_descriptors(std::uint32_t parent, std::vector<UniqueFd> descriptors);
  Status add(std::uint32_t number, wire::ChannelKind kind, RelayChannel::Opened opened, UniqueFd fd);
  void tell(const RelayChannel& channel, const RelayChannel::Written& written);
  void tell_sizes();
  void tell_clock();
  Status take_clock(const wire::ChannelMessage& message);
  void forget_ended();
  void say(const wire::ChannelMessage& message) { out_ += encode(message); }

  Settings settings_;
  wire::ChannelReader reader_;
  std::string out_;
  Channels channels_;
  std::uint32_t last_number_;
  std::uint32_t last_of_other_ = 0;
  std::uint64_t order_ = 0;  // of what comes from the other side
  std::uint64_t of_guest_ = 0;  // of the last of it that a guest said
  std::map<std::uint32_t, Behind> behind_;  // by the guest's channel
  bool is_closed_ = false;
  bool has_untaken_ = false;  // kHost: more descriptors wait for the reader than may
  ClockTeller clock_{};  // kHost
};

}  // namespace hutch::guest
