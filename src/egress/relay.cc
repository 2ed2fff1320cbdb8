// Bytes between two sockets, both ways.
#include "egress/relay.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include "sys/net/sockets.h"

namespace hutch::egress {

namespace {

// What a pipe is asked to hold, which the kernel gives less of to a user who has many (pipe-user-pages-soft, pipe(7)).
constexpr std::size_t kPipeBytes = 256 << 10;
constexpr std::size_t kSparePipesMax = 64;
constexpr std::size_t kCopyBytes = 64 << 10;
// How much one connection may move before others have their turn.
constexpr std::size_t kTurnBytes = 2 << 20;
// After less than this there is most likely no more now, and the loop would say so if there were.
constexpr std::size_t kMoreLikelyBytes = 16 << 10;

bool would_block(const Error& error) { return error.sys_errno == EAGAIN; }

}  // namespace

std::optional<sys::Pipe> PipePool::take() {
  if (!spare_.empty()) {
    std::optional pipe(std::move(spare_.back()));
    spare_.pop_back();
    return pipe;
  }
  auto made = sys::pipe();
  if (!made || !sys::set_nonblocking(made->read.get()) || !sys::set_nonblocking(made->write.get())) {
    return std::nullopt;
  }
  sys::resize_pipe(made->write.get(), kPipeBytes);
  return std::move(*made);
}

void PipePool::give_back(sys::Pipe pipe) {
  if (spare_.size() < kSparePipesMax) spare_.push_back(std::move(pipe));
}

Relay::Relay(Loop& loop, PipePool& pipes, UniqueFd client, UniqueFd upstream, std::function<void(End)> on_end)
    : loop_(loop),
      pipes_(pipes),
      client_(std::move(client)),
      upstream_(std::move(upstream)),
      on_end_(std::move(on_end)) {
  up_.from = down_.to = client_.get();
  up_.to = down_.from = upstream_.get();
}

Relay::~Relay() = default;

Status Relay::start(Client client, std::function<void(Input)> on_held) {
  on_held_ = std::move(on_held);
  up_.held = client == Client::kHeld;
  client_watch_ = TRY(loop_.watch(client_.get(), {.read = true, .write = false},
                                  [this](const sys::Readiness& readiness) { ready(up_, down_, readiness); }));
  upstream_watch_ = TRY(loop_.watch(upstream_.get(), {.read = true, .write = false},
                                    [this](const sys::Readiness& readiness) { ready(down_, up_, readiness); }));
  return {};
}

void Relay::release_client() {
  up_.held = false;
  sys::set_receive_low_water(client_.get(), 1);
  ready(up_, down_, {});
}

// So few that they fit into the empty buffer of a socket that nothing was written to.
void Relay::pass_held(std::size_t size) {
  std::string bytes(size, '\0');
  const auto count = sys::read_some(client_.get(), bytes);
  if (!count || sys::write_some(upstream_.get(), std::string_view(bytes).substr(0, *count)).value_or(0) != *count) {
    return end(End::kReset);
  }
  up_.moved += *count;
}

Relay::Sockets Relay::release_sockets() {
  client_watch_.stop();
  upstream_watch_.stop();
  sys::set_receive_low_water(client_.get(), 1);
  return {std::move(client_), std::move(upstream_)};
}

// One socket can be read (into `reads`) or written (from `writes`).
void Relay::ready(Way& reads, Way& writes, const sys::Readiness& readiness) {
  if (reads.held && readiness.readable) {
    if (readiness.broken) return end(End::kReset);
    return on_held_(readiness.ended ? Input::kEnded : Input::kOpen);
  }
  // It would go on to say so.
  if (readiness.broken) {
    (&reads == &up_ ? client_watch_ : upstream_watch_).stop();
    reads.unwatched = true;
  }
  const std::uint64_t moved_before = reads.moved;
  if (move(reads) == Moved::kBroken || move(writes) == Moved::kBroken) return end(End::kReset);
  const bool stuck =
      readiness.readable && !reads.held && !reads.ended && !reads.holds_any() && reads.moved == moved_before;
  // splice(2) stops in front of urgent data for ever, which reading goes past.
  if (stuck && (copy(reads) == Moved::kBroken || move(reads) == Moved::kBroken)) return end(End::kReset);
  if (up_.done && down_.done) return end(End::kWhole);
  update_interest();
}

Relay::Moved Relay::move(Way& way) {
  const std::uint64_t moved_before = way.moved;
  Moved in = Moved::kMuch;
  Moved out = Moved::kMuch;
  bool goes_on = true;
  while (goes_on) {
    const std::uint64_t moved_last = way.moved;
    in = way.held || way.ended ? Moved::kLittle : fill(way);
    out = in == Moved::kBroken ? Moved::kBroken : drain(way);
    if (out == Moved::kBroken) return Moved::kBroken;
    const bool much = in == Moved::kMuch || out == Moved::kMuch;
    goes_on = much && way.moved - moved_before < kTurnBytes;
    // Nothing would say that there is more, so it is read to its end, as fast as the other side takes it.
    if (way.unwatched) goes_on = !way.ended && !way.holds_any() && way.moved > moved_last;
  }
  if (way.ended && !way.holds_any() && !way.done) {
    way.done = true;
    if (!sys::shut_down_writing(way.to)) return Moved::kBroken;
  }
  if (way.pipe && way.in_pipe == 0) {
    pipes_.give_back(std::move(*way.pipe));
    way.pipe.reset();
  }
  return Moved::kLittle;
}

Relay::Moved Relay::fill(Way& way) {
  if (!way.copied.empty()) return Moved::kLittle;
  if (!way.pipe) way.pipe = pipes_.take();
  if (way.pipe) {
    const auto moved = sys::splice(way.from, way.pipe->write.get(), kPipeBytes);
    if (!moved) return Moved::kBroken;
    if (!*moved) return Moved::kLittle;
    // The end, or urgent data in front of it.
    if (**moved == 0 && way.in_pipe == 0) return copy(way);
    way.in_pipe += **moved;
    return amount(**moved);
  }
  return copy(way);
}

Relay::Moved Relay::copy(Way& way) {
  std::array<char, kCopyBytes> buffer;
  const auto count = sys::read_some(way.from, buffer);
  if (!count) return would_block(count.error()) ? Moved::kLittle : Moved::kBroken;
  way.ended = *count == 0;
  way.copied.assign(buffer.data(), *count);
  return amount(*count);
}

Relay::Moved Relay::drain(Way& way) {
  if (way.in_pipe > 0) {
    const auto moved = sys::splice(way.pipe->read.get(), way.to, way.in_pipe);
    if (!moved) return Moved::kBroken;
    if (!*moved) return Moved::kLittle;
    way.in_pipe -= **moved;
    way.moved += **moved;
    return amount(**moved);
  }
  if (way.copied.empty()) return Moved::kLittle;
  const auto count = sys::write_some(way.to, way.copied);
  if (!count) return would_block(count.error()) ? Moved::kLittle : Moved::kBroken;
  way.copied.erase(0, *count);
  way.moved += *count;
  return amount(*count);
}

Relay::Moved Relay::amount(std::size_t bytes) { return bytes >= kMoreLikelyBytes ? Moved::kMuch : Moved::kLittle; }

void Relay::update_interest() {
  const auto wants_more = [](const Way& way) { return !way.ended && !way.holds_any(); };
  client_watch_.set({.read = wants_more(up_), .write = down_.holds_any()});
  upstream_watch_.set({.read = wants_more(down_), .write = up_.holds_any()});
}

void Relay::end(End end) {
  client_watch_.stop();
  upstream_watch_.stop();
  if (end == End::kReset) {
    sys::reset_on_close(client_.get());
    sys::reset_on_close(upstream_.get());
  }
  const auto on_end = std::move(on_end_);
  on_end(end);
}

}  // namespace hutch::egress
