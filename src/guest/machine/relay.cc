// Carries streams of guests across a boundary that takes bytes alone.
#include "guest/machine/relay.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <utility>
#include <variant>

#include "base/limits.h"
#include "base/text.h"
#include "sys/channel.h"
#include "sys/io.h"
#include "sys/terminal.h"

namespace hutch::guest {

namespace {

using wire::ChannelKind;
using OpenedStream = RelayChannel::Opened;

// Data is taken of channels only while less than this waits for the stream.
constexpr std::size_t kOutMax = 256 << 10;
// While more waits, of what a machine asks and does not read, it is not heard: it alone waits for itself. Its own side
// hears always, so that both never wait for each other.
constexpr std::size_t kUnheardMax = 1 << 20;
// Each of a machine's takes descriptors here.
constexpr std::ptrdiff_t kOfMachineMax = 256;
// Nor while this many of its descriptors wait for the reader. Their channels may have ended, but a terminal stays in
// use for as long as one of its ends is open, and the whole host has only so many.
constexpr std::size_t kOnTheirWayMax = 2 * limits::kFrameDescriptorsMax;
// Nothing tells that they were taken.
constexpr std::chrono::milliseconds kTakenCheck{10};
// A terminal's window is looked at so often: no signal tells whoever has its other side.
constexpr std::chrono::milliseconds kSizeCheck{100};

bool is_even(std::uint32_t number) { return number % 2 == 0; }

std::optional<ChannelKind> kind_of(int fd) {
  switch (sys::stream_kind(fd)) {
    case sys::StreamKind::kSocket: return ChannelKind::kSocket;
    case sys::StreamKind::kTerminal: return ChannelKind::kTerminal;
    case sys::StreamKind::kPipe:
    case sys::StreamKind::kOther: break;
    case sys::StreamKind::kClosed:
    case sys::StreamKind::kFile: return std::nullopt;
  }
  const auto use = sys::opened_for(fd);
  if (!use) return std::nullopt;
  // /dev/null and the like, for both: it ends at once.
  return *use == sys::OpenFor::kWriting ? ChannelKind::kSink : ChannelKind::kSource;
}

// What stands here for a descriptor of the other side's: what its user gets, and the end that is served.
struct Pair {
  UniqueFd user;
  UniqueFd served;
};

Result<Pair> pair_for(ChannelKind kind) {
  if (kind == ChannelKind::kSource || kind == ChannelKind::kSink) {
    sys::Pipe pipe = TRY(sys::pipe());
    const bool reads = kind == ChannelKind::kSource;
    return Pair{std::move(reads ? pipe.read : pipe.write), std::move(reads ? pipe.write : pipe.read)};
  }
  if (kind == ChannelKind::kTerminal) {
    sys::TerminalPair pair = TRY(sys::open_terminal("/dev/ptmx"));
    TRY(sys::make_raw(pair.terminal.get()));
    return Pair{std::move(pair.master), std::move(pair.terminal)};
  }
  auto [user, served] = TRY(sys::socket_pair());
  return Pair{std::move(user), std::move(served)};
}

}  // namespace

Relay::Relay(Settings settings)
    : settings_(std::move(settings)), last_number_(settings_.side == Side::kHost ? 0U : ~0U) {}

Status Relay::add_guest(UniqueFd stream) {
  const std::uint32_t number = last_number_ += 2;
  say(wire::ChannelOpened{number, 0, ChannelKind::kGuest});
  return add(number, ChannelKind::kGuest, OpenedStream::kHere, std::move(stream));
}

Status Relay::run() {
  TRY(sys::set_nonblocking(settings_.stream.get()));
  while (!is_over()) TRY(turn());
  return {};
}

bool Relay::is_over() const {
  if (is_closed_) return true;
  const auto is_guest = [](const auto& one) { return one.second.channel.kind() == ChannelKind::kGuest; };
  return settings_.side == Side::kHost && out_.empty() && std::ranges::none_of(channels_, is_guest);
}

Status Relay::turn() {
  has_untaken_ = has_untaken_ && look_for_untaken();
  // What came together with what it was not heard for.
  TRY(take_messages());
  forget_ended();
  const int events = (hears() ? POLLIN : 0) | (out_.empty() ? 0 : POLLOUT);
  std::vector<pollfd> wait{{settings_.stream.get(), static_cast<short>(events), 0}};
  std::vector<std::uint32_t> numbers{0};
  std::optional<std::chrono::milliseconds> timeout;
  if (settings_.side == Side::kHost) timeout = ClockTeller::kCheck;
  for (auto& [number, open] : channels_) {
    if (open.channel.kind() == ChannelKind::kTerminal) timeout = kSizeCheck;
    auto of_channel = awaited(open);
    if (!of_channel) continue;
    if (out_.size() >= kOutMax) of_channel = static_cast<short>(*of_channel & ~POLLIN);
    wait.push_back({open.channel.fd(), *of_channel, 0});
    numbers.push_back(number);
  }
  if (has_untaken_) timeout = kTakenCheck;
  // poll(2) passes over a negative one.
  wait.push_back({settings_.lifeline ? settings_.lifeline.get() : -1, POLLIN, 0});
  TRY(sys::poll(wait, timeout));
  if (wait.back().revents != 0) is_closed_ = true;
  wait.pop_back();
  if ((wait[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0) TRY(read_stream());
  for (std::size_t i = 1; i < wait.size(); ++i) {
    const auto found = channels_.find(numbers[i]);
    if (wait[i].revents != 0 && found != channels_.end()) TRY(serve(found->second, wait[i].revents));
  }
  write_guests();
  tell_sizes();
  tell_clock();
  forget_ended();
  return is_closed_ ? Status() : write_stream();
}

bool Relay::hears() const { return settings_.side == Side::kMachine || (out_.size() < kUnheardMax && !has_untaken_); }

bool Relay::look_for_untaken() {
  return settings_.side == Side::kHost && std::ranges::any_of(channels_, [](auto& one) {
           RelayChannel& channel = one.second.channel;
           return channel.kind() == ChannelKind::kGuest && channel.holds_descriptors(kOnTheirWayMax);
         });
}

// One that is held is not waited for: its end would be told again and again.
std::optional<short> Relay::awaited(const Open& open) const {
  auto events = open.channel.awaited();
  if (!events || open.channel.kind() != ChannelKind::kGuest) return events;
  const auto behind = behind_.find(open.channel.number());
  if (behind != behind_.end() && !behind->second.ahead.empty()) events = static_cast<short>(*events & ~POLLIN);
  const auto oldest = open.channel.oldest();
  if (oldest && *oldest > last_to_write(open.channel)) events = static_cast<short>(*events & ~POLLOUT);
  return *events == 0 ? std::nullopt : events;
}

// On the host's side a guest's pieces wait for those of outputs that came before.
std::uint64_t Relay::last_to_write(const RelayChannel& channel) const {
  std::uint64_t last = order_;
  if (settings_.side != Side::kHost || channel.kind() != ChannelKind::kGuest) return last;
  for (const auto& [number, open] : channels_) {
    const auto oldest = open.channel.is_output() ? open.channel.oldest() : std::nullopt;
    if (oldest) last = std::min(last, *oldest);
  }
  return last;
}

void Relay::write_guests() {
  if (settings_.side != Side::kHost) return;
  for (auto& [number, open] : channels_) {
    if (open.channel.kind() == ChannelKind::kGuest)
      tell(open.channel, open.channel.write_out(last_to_write(open.channel)));
  }
}

// In the machine: whether outputs have bytes that were there before what the guest says now. How much it says is asked
// first, so that whatever it speaks of is counted.
bool Relay::is_held(const RelayChannel& guest) {
  if (settings_.side != Side::kMachine) return false;
  const auto [found, is_new] = behind_.try_emplace(guest.number());
  Behind& behind = found->second;
  if (is_new) {
    behind.bytes = guest.to_take();
    for (const auto& [number, open] : channels_) {
      const std::size_t size = open.channel.is_output() ? open.channel.to_take() : 0;
      if (size > 0) behind.ahead.emplace(number, size);
    }
  }
  return !behind.ahead.empty();
}

Status Relay::read_stream() {
  std::array<char, 64 << 10> bytes;
  const auto size = sys::read_some(settings_.stream.get(), bytes);
  // Told once, of a side that closed before it had read all: what it has said is there behind that (unix(7)).
  if (!size && (size.error().sys_errno == EAGAIN || size.error().sys_errno == ECONNRESET)) return {};
  if (!size || *size == 0) {
    is_closed_ = true;
    return {};
  }
  reader_.add({bytes.data(), *size});
  return take_messages();
}

Status Relay::take_messages() {
  while (hears()) {
    auto message = TRY(reader_.next());
    if (!message) return {};
    TRY(take(std::move(*message)));
  }
  return {};
}

Status Relay::write_stream() {
  std::size_t written = 0;
  while (written < out_.size()) {
    const auto count = sys::write_some(settings_.stream.get(), std::string_view(out_).substr(written));
    if (!count && count.error().sys_errno == EAGAIN) break;
    if (!count) {
      // It reads no more, but what it has said may not be read yet.
      const bool may_have_said = count.error().sys_errno == EPIPE || count.error().sys_errno == ECONNRESET;
      is_closed_ = !may_have_said;
      out_.clear();
      return {};
    }
    written += *count;
  }
  out_.erase(0, written);
  return {};
}

Status Relay::take(wire::ChannelMessage message) {
  if (const auto* opened = std::get_if<wire::ChannelOpened>(&message)) return take(*opened);
  if (auto* data = std::get_if<wire::ChannelData>(&message)) return take(std::move(*data));
  if (std::holds_alternative<wire::ChannelClock>(message)) return take_clock(message);
  if (std::holds_alternative<wire::ChannelClockHeard>(message)) return take_clock(message);
  return take_other(message);
}

Status Relay::take(const wire::ChannelOpened& opened) {
  const bool of_host = is_even(opened.channel);
  const bool from_host = settings_.side == Side::kMachine;
  if (of_host != from_host || opened.channel == 0 || opened.channel <= last_of_other_) {
    return fail(Error::invalid("a channel with a number that is not its own"));
  }
  last_of_other_ = opened.channel;
  if (opened.kind == ChannelKind::kGuest) {
    if (!from_host) return fail(Error::invalid("a machine that starts a guest here"));
    return add(opened.channel, opened.kind, OpenedStream::kThere, TRY(settings_.start_guest()));
  }
  if (!from_host && (opened.kind == ChannelKind::kSource || opened.kind == ChannelKind::kSink)) {
    return fail(Error::invalid("a pipe of a machine's"));
  }
  const auto parent = channels_.find(opened.parent);
  // It has gone meanwhile: what is said about this one is passed over as well.
  if (parent == channels_.end()) return {};
  if (parent->second.channel.kind() != ChannelKind::kGuest ||
      parent->second.arrived.size() >= limits::kFrameDescriptorsMax) {
    return fail(Error::invalid("a descriptor that belongs to no message"));
  }
  const auto is_of_machine = [](const auto& one) { return !is_even(one.first); };
  if (!from_host && std::ranges::count_if(channels_, is_of_machine) >= kOfMachineMax) {
    return fail(Error::invalid("too many channels of a machine's"));
  }
  Pair pair = TRY(pair_for(opened.kind));
  parent->second.arrived.push_back(std::move(pair.user));
  return add(opened.channel, opened.kind, OpenedStream::kThere, std::move(pair.served));
}

Status Relay::take(wire::ChannelData data) {
  const auto found = channels_.find(data.channel);
  if (found == channels_.end()) return {};
  Open& open = found->second;
  TRY(open.channel.put({std::move(data.bytes), std::exchange(open.arrived, {}), ++order_, of_guest_}));
  if (open.channel.kind() == ChannelKind::kGuest) of_guest_ = order_;
  tell(open.channel, open.channel.write_out(last_to_write(open.channel)));
  if (open.channel.kind() == ChannelKind::kGuest) has_untaken_ = look_for_untaken();
  return {};
}

// What it is told waits behind nothing but what is on its way already.
void Relay::tell_clock() {
  if (settings_.side != Side::kHost) return;
  const auto now = ClockTeller::Now::read();
  if (!clock_.is_due(now)) return;
  clock_.tell(now);
  say(wire::ChannelClock{now.wall});
}

Status Relay::take_clock(const wire::ChannelMessage& message) {
  const auto* clock = std::get_if<wire::ChannelClock>(&message);
  if ((settings_.side == Side::kMachine) != (clock != nullptr))
    return fail(Error::invalid("a clock of the wrong side"));
  if (clock == nullptr) {
    if (clock_.hear(ClockTeller::Now::read())) return {};
    return fail(Error::invalid("a machine that heard what it was not told"));
  }
  say(wire::ChannelClockHeard{});
  return settings_.hear_clock ? settings_.hear_clock(clock->clock_ns) : Status();
}

Status Relay::take_other(const wire::ChannelMessage& message) {
  std::uint32_t number = 0;
  if (const auto* credit = std::get_if<wire::ChannelCredit>(&message)) number = credit->channel;
  if (const auto* end = std::get_if<wire::ChannelEnd>(&message)) number = end->channel;
  if (const auto* stop = std::get_if<wire::ChannelStop>(&message)) number = stop->channel;
  if (const auto* resized = std::get_if<wire::ChannelResized>(&message)) number = resized->channel;
  const auto found = channels_.find(number);
  if (found == channels_.end()) return {};
  RelayChannel& channel = found->second.channel;
  if (const auto* credit = std::get_if<wire::ChannelCredit>(&message)) return channel.add_credit(credit->bytes);
  if (const auto* resized = std::get_if<wire::ChannelResized>(&message)) {
    channel.set_size({resized->rows, resized->columns});
  } else if (std::holds_alternative<wire::ChannelEnd>(message)) {
    channel.end();
  } else if (std::holds_alternative<wire::ChannelStop>(message)) {
    if (channel.stop()) say(wire::ChannelEnd{number});
  }
  return {};
}

Status Relay::serve(Open& open, short events) {
  if ((events & POLLOUT) != 0) tell(open.channel, open.channel.write_out(last_to_write(open.channel)));
  if ((events & (POLLIN | POLLHUP)) != 0) TRY(pass_on(open));
  // Of a socket both directions have ended then (unix(7)), the one in which something may come still as well.
  if ((events & (POLLERR | POLLHUP)) != 0) tell(open.channel, open.channel.lose_reader());
  return {};
}

Status Relay::pass_on(Open& open) {
  const std::uint32_t number = open.channel.number();
  std::size_t bytes_max = wire::kChannelDataMax;
  if (open.channel.kind() == ChannelKind::kGuest && settings_.side == Side::kMachine) {
    if (is_held(open.channel)) return {};
    // Of its end there is nothing to count.
    bytes_max = std::max<std::size_t>(behind_.extract(number).mapped().bytes, 1);
  }
  RelayChannel::Taken taken = TRY(open.channel.take(bytes_max));
  for (auto& [guest, behind] : behind_) {
    const auto found = behind.ahead.find(number);
    if (found == behind.ahead.end()) continue;
    found->second -= std::min(found->second, taken.bytes.size());
    if (found->second == 0 || taken.ended) behind.ahead.erase(found);
  }
  TRY(pass_descriptors(number, std::move(taken.descriptors)));
  if (!taken.bytes.empty()) say(wire::ChannelData{number, std::move(taken.bytes)});
  if (taken.ended) say(wire::ChannelEnd{number});
  return {};
}

// Each gets a channel, in front of the data that it came with.
Status Relay::pass_descriptors(std::uint32_t parent, std::vector<UniqueFd> descriptors) {
  for (UniqueFd& fd : descriptors) {
    const auto kind = kind_of(fd.get());
    if (!kind) return fail(Error::invalid("a descriptor that cannot cross to another machine"));
    const std::uint32_t number = last_number_ += 2;
    say(wire::ChannelOpened{number, parent, *kind});
    TRY(add(number, *kind, OpenedStream::kHere, std::move(fd)));
  }
  return {};
}

Status Relay::add(std::uint32_t number, ChannelKind kind, OpenedStream opened, UniqueFd fd) {
  if (channels_.size() >= wire::kChannelsMax) return fail(Error::invalid("too many channels"));
  RelayChannel channel = TRY(RelayChannel::make(number, kind, opened, std::move(fd)));
  channels_.emplace(number, Open{std::move(channel)});
  return {};
}

void Relay::tell(const RelayChannel& channel, const RelayChannel::Written& written) {
  if (written.credit > 0) say(wire::ChannelCredit{channel.number(), written.credit});
  if (written.stopped) say(wire::ChannelStop{channel.number()});
}

void Relay::tell_sizes() {
  for (auto& [number, open] : channels_) {
    if (const auto size = open.channel.new_size()) say(wire::ChannelResized{number, size->rows, size->columns});
  }
}

void Relay::forget_ended() {
  for (auto& [guest, behind] : behind_) {
    std::erase_if(behind.ahead, [&](const auto& entry) {
      const auto found = channels_.find(entry.first);
      return found == channels_.end() || found->second.channel.to_take() == 0;
    });
  }
  std::erase_if(behind_, [&](const auto& one) { return !channels_.contains(one.first); });
  std::erase_if(channels_, [](const auto& one) { return one.second.channel.is_over(); });
}

}  // namespace hutch::guest
