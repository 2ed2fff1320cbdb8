// One connection of a sandbox, from the moment it was accepted to its end.
#include "egress/tunnel.h"

#include <array>

#include "base/text.h"
#include "egress/proxy_head.h"
#include "egress/sniff.h"
#include "sys/io.h"

namespace hutch::egress {

namespace {

// How long a client of the proxy may take to say where it wants to go.
constexpr std::chrono::milliseconds kRequestWait{60'000};

// How long a client's first line may stay unfinished before what there is of it goes on.
constexpr std::chrono::milliseconds kMoreWait{300};

// What the parsers of requests and first bytes may look at.
constexpr std::size_t kPeekBytesMax = kSniffBytesMax;
static_assert(kPeekBytesMax >= kProxyHeadBytesMax);

}  // namespace

Tunnel::Tunnel(Core& core, std::uint64_t id, Door door, UniqueFd client, sys::Endpoint peer,
               std::function<void()> on_end)
    : core_(core), id_(id), door_(door), client_(std::move(client)), peer_(peer), on_end_(std::move(on_end)) {
  sys::disable_nagle(client_.get());
}

Tunnel::~Tunnel() = default;

void Tunnel::open(Target target) { judge(std::move(target)); }

void Tunnel::open_at(Opening opening) {
  target_ = std::move(opening.target);
  is_listed_ = std::move(opening.is_listed);
  rule_ = door_ == Door::kPublished ? "network.publish" : "network.hostPorts";
  dialer_ = std::make_unique<Dialer>(core_, target_, [this](Dialled done) { dialled(std::move(done)); });
  dialer_->start_at(std::move(opening.endpoints), std::move(opening.socket));
}

void Tunnel::read_request() {
  auto watch = core_.loop().watch(client_.get(), {.read = true, .write = false}, [this](const sys::Readiness& ready) {
    ready.broken ? end() : proxy_readable(ready.ended ? Input::kEnded : Input::kOpen);
  });
  if (!watch) return end();
  watch_ = std::move(*watch);
  timer_ = core_.loop().after(kRequestWait, [this] { end(); });
}

void Tunnel::proxy_readable(Input input) {
  std::array<char, kPeekBytesMax> buffer;
  const auto count = sys::peek(client_.get(), buffer);
  if (!count || (*count && **count == 0)) return end();
  if (!*count) return;
  const std::string_view bytes(buffer.data(), **count);
  const bool socks = bytes[0] == 4 || bytes[0] == 5 || protocol_ == Protocol::kSocks;
  protocol_ = socks ? Protocol::kSocks : Protocol::kHttp;
  if (!shows_more(bytes.size())) return end();
  // To be called again only when there is more.
  const bool ended = input == Input::kEnded;
  sys::set_receive_low_water(client_.get(), ended ? 1 : static_cast<int>(bytes.size()) + 1);
  const auto alive = std::weak_ptr(alive_);
  socks ? read_socks_request(bytes) : read_http(bytes);
  if (!alive.expired() && ended && watch_) end();
}

void Tunnel::read_http(std::string_view bytes) {
  const ProxyHead head = read_proxy_head(bytes);
  if (head.step == ProxyStep::kMore) return;
  watch_.stop();
  timer_.stop();
  shown_ = 0;
  sys::set_receive_low_water(client_.get(), 1);
  if (head.step == ProxyStep::kMalformed) {
    return answer_refusal("malformed-request", "hutch: the request cannot be understood", SocksResult::kRefused);
  }
  const auto host = policy::canonical_host(head.host);
  if (!host) return answer_refusal("malformed-host", "hutch: " + host.error().message, SocksResult::kRefused);
  forwards_ = head.step == ProxyStep::kForward;
  if (!forwards_) consume(head.size);
  judge({*host, head.port});
}

void Tunnel::read_socks_request(std::string_view bytes) {
  const SocksRead read = read_socks(bytes, socks_state_);
  if (read.step == SocksStep::kMore) return;
  sys::set_receive_low_water(client_.get(), 1);
  socks_version_ = read.version;
  consume(read.size);
  if (read.step == SocksStep::kGreeting) {
    socks_state_ = SocksState::kGreeted;
    shown_ = 0;
    (void)sys::write_some(client_.get(), read.reply);
    return;
  }
  watch_.stop();
  timer_.stop();
  shown_ = 0;
  if (read.step == SocksStep::kRefused) {
    (void)sys::write_some(client_.get(), read.reply);
    return end();
  }
  const auto host = policy::canonical_host(read.host);
  if (!host || read.port == 0) return answer_refusal({}, {}, SocksResult::kNotAllowed);
  judge({*host, read.port});
}

// What was looked at and is there to be read.
void Tunnel::consume(std::size_t size) {
  std::array<char, 4096> buffer;
  while (size > 0) {
    const auto count = sys::read_some(client_.get(), std::span(buffer).first(std::min(size, buffer.size())));
    if (!count || *count == 0) return;
    size -= *count;
  }
}

// A look that shows no more than the one before would go on to do so, at once each time: urgent data (tcp(7)) ends what
// can be looked at.
bool Tunnel::shows_more(std::size_t size) { return std::exchange(shown_, size) < size; }

void Tunnel::judge(Target target) {
  target_ = std::move(target);
  // A client of the proxy may have asked for the name itself and bring the address that it was given.
  if (target_.host.address) {
    if (auto name = core_.names().name_of(*target_.host.address)) target_.host = {std::move(*name), std::nullopt};
  }
  const Ruling ruling = core_.rule(target_);
  rule_ = ruling.rule;
  switch (ruling.verdict) {
    case Verdict::kAllow: return dial();
    case Verdict::kDeny: return refuse(ruling);
    case Verdict::kAsk: break;
  }
  core_.ask(target_, peer(),
            [this, ruling, alive = std::weak_ptr(alive_)](Core::Permission permission, const Process& process) {
              if (alive.expired()) return;
              process_ = process;
              if (permission == Core::Permission::kRefused) return refuse(ruling);
              rule_ = kAnswerRule;
              allowed_once_ = permission == Core::Permission::kOnce;
              dial();
            });
}

void Tunnel::dial() {
  dialer_ = std::make_unique<Dialer>(core_, target_, [this](Dialled done) { dialled(std::move(done)); });
  dialer_->start(rule_ == kAnswerRule ? Core::Basis::kAnswer : Core::Basis::kRules);
}

void Tunnel::dialled(Dialled done) {
  const auto finished = std::move(dialer_);  // it is in the middle of this call
  if (done.socket) {
    if (protocol_ == Protocol::kHttp && !forwards_) (void)sys::write_some(client_.get(), proxy_connected());
    if (protocol_ == Protocol::kSocks) {
      (void)sys::write_some(client_.get(), socks_reply(socks_version_, SocksResult::kConnected));
    }
    return begin_relay(std::move(done.socket));
  }
  switch (done.failure) {
    case DialFailure::kRefusedByPolicy: return refuse({Verdict::kDeny, "the address", done.why});
    case DialFailure::kUnknownName:
    case DialFailure::kUnreachable: break;
  }
  answer_refusal("unreachable", cat({"hutch: ", egress::to_string(target_), " cannot be reached: ", done.why}),
                 SocksResult::kUnreachable);
}

void Tunnel::begin_relay(UniqueFd upstream) {
  http_rules_ = policy::http_rules_for(core_.network(), target_.host, target_.port);
  if (forwards_) return inspect(wire::InspectForm::kProxy, Layer::kPlain, {std::move(client_), std::move(upstream)});
  relay_ = std::make_unique<Relay>(core_.loop(), core_.pipes(), std::move(client_), std::move(upstream),
                                   [this](Relay::End how) {
                                     tell_passed(relay_->bytes_up(), relay_->bytes_down());
                                     how == Relay::End::kReset ? reset() : end();
                                   });
  // A port that was opened on purpose is not a name that something else could hide behind.
  const bool held = door_ == Door::kCapture || door_ == Door::kProxy;
  const Status started = relay_->start(held ? Relay::Client::kHeld : Relay::Client::kReleased,
                                       [this](Relay::Input input) { look_at_first_bytes(input); });
  if (!started) reset();
}

void Tunnel::look_at_first_bytes(Input input) {
  std::array<char, kPeekBytesMax> buffer;
  const auto count = sys::peek(relay_->client(), buffer);
  if (!count) return reset();
  if (!*count) return;
  const std::string_view bytes(buffer.data(), **count);
  const Sniffed first = bytes.empty() ? Sniffed{.kind = FirstBytes::kOther} : sniff(cat({passed_, bytes}));
  const bool has_rules = !policy::http_rules_for(core_.network(), target_.host, target_.port).empty();
  const bool swaps = !core_.placeholders(target_.host, target_.port).empty();
  // A server that speaks first is of another protocol: there, neither TLS nor HTTP begins at this point.
  const bool server_spoke = relay_->bytes_down() > 0;
  switch (first.kind) {
    case FirstBytes::kMore:
      if (input == Input::kEnded && first.is_text) return pass();
      if (input == Input::kEnded || !shows_more(bytes.size())) break;
      if (first.is_text) timer_ = core_.loop().after(kMoreWait, [this] { pass_what_begins_nothing(); });
      return sys::set_receive_low_water(relay_->client(), static_cast<int>(bytes.size()) + 1);
    case FirstBytes::kMalformed: return refuse({Verdict::kDeny, "first bytes", "the first bytes are malformed"});
    case FirstBytes::kTls:
      if (!may_speak_tls(first.server_name)) {
        return refuse({Verdict::kDeny, "first bytes",
                       cat({"the TLS hello names ", printable(first.server_name), ", another host"})});
      }
      if ((has_rules || swaps) && !server_spoke)
        return inspect(wire::InspectForm::kOrigin, Layer::kTls, relay_->release_sockets());
      if (has_rules) break;
      return pass();
    case FirstBytes::kHttp:
      if (!server_spoke && passed_.empty()) {
        return inspect(wire::InspectForm::kOrigin, Layer::kPlain, relay_->release_sockets());
      }
      break;
    case FirstBytes::kHttp2: break;
    case FirstBytes::kOther:
      if (has_rules && !bytes.empty()) break;
      return pass();
  }
  refuse({Verdict::kDeny, "first bytes", "requests in this form cannot be checked"});
}

// A client that waits for an answer to less than a line. No server acts on the beginning of a request, so it may go on
// there; what follows is looked at together with it.
void Tunnel::pass_what_begins_nothing() {
  std::array<char, kPeekBytesMax> buffer;
  const auto count = sys::peek(relay_->client(), buffer);
  if (!count || !*count || **count == 0) return;
  passed_.append(buffer.data(), **count);
  shown_ = 0;
  sys::set_receive_low_water(relay_->client(), 1);
  relay_->pass_held(**count);
}

// No name at all is none that could hide another; an address has none, so that any name that is allowed will do.
bool Tunnel::may_speak_tls(const std::string& server_name) const {
  if (server_name.empty()) return true;
  const auto named = policy::canonical_host(server_name);
  if (!named) return false;
  if (named->name == target_.host.name) return true;
  if (!target_.host.address && core_.network().mode != policy::NetworkMode::kOutbound) return false;
  return core_.rule({*named, target_.port}).verdict == Verdict::kAllow;
}

void Tunnel::pass() {
  timer_.stop();
  relay_->release_client();
}

void Tunnel::inspect(wire::InspectForm form, Layer layer, Relay::Sockets sockets) {
  const Status ready = core_.start_inspector();
  // What takes them over waits in its calls.
  const bool blocking = sys::restore_blocking(sockets.client.get()) && sys::restore_blocking(sockets.upstream.get());
  if (!ready) return refuse_unread(ready.error(), std::move(sockets.client));
  if (!blocking) return reset();
  const wire::Inspect request{
      .id = id_,
      .host = target_.host.name,
      .port = static_cast<std::uint16_t>(target_.port),
      .form = form,
      .tls = layer == Layer::kTls,
      .rules = policy::http_rules_for(core_.network(), target_.host, target_.port),
      .placeholders = layer == Layer::kTls ? core_.placeholders(target_.host, target_.port) : Settings::Placeholders()};
  inspected_ = true;
  const auto on_refused = [this, alive = std::weak_ptr(alive_)](const wire::InspectRefused& refused) {
    if (alive.expired()) return;
    core_.refuse(target_, {Verdict::kDeny, "network.rules", cat({refused.what, ": ", refused.why})}, peer(), process_);
  };
  const auto on_closed = [this, alive = std::weak_ptr(alive_)](const wire::InspectClosed& closed) {
    if (alive.expired()) return;
    tell_passed(closed.bytes_up, closed.bytes_down);
    end();
  };
  const Status taken = core_.inspector().inspect(request, sockets.client.get(), sockets.upstream.get(),
                                                 {.on_refused = on_refused, .on_closed = on_closed});
  if (!taken) end();
}

// What has to be read goes nowhere unread.
void Tunnel::refuse_unread(const Error& error, UniqueFd client) {
  client_ = std::move(client);
  const std::string why = cat({"its requests cannot be read: ", error.message});
  core_.refuse(target_, {Verdict::kDeny, "network.rules", why}, peer(), process_);
  if (!forwards_) return reset();  // it believes that it is connected to the host
  answer_refusal("inspection", cat({"hutch: ", egress::to_string(target_), " is refused: ", why}),
                 SocksResult::kUnreachable);
}

bool Tunnel::take_back(std::string_view target) {
  const bool meant = is_named(egress::to_string(target_), target);
  if (is_listed_ || !meant || (!dialer_ && !relay_ && !inspected_)) return false;
  if (core_.rule(target_).verdict == Verdict::kAllow) return false;
  core_.refuse(target_, {Verdict::kDeny, "an answer", "what was allowed was taken back"}, peer(), process_);
  if (inspected_) core_.inspector().end(id_);
  reset();
  return true;
}

void Tunnel::judge_again() {
  if (is_listed_) return is_listed_() ? void() : reset();
  if (target_.host.name.empty()) return;
  if (!dialer_ && !relay_ && !inspected_) return;  // nothing was allowed yet
  const Ruling ruling = core_.rule(target_);
  // Whoever reads its requests, or was told that nobody has to, knows the rules of the beginning.
  const bool rules_hold = dialer_ || http_rules_ == policy::http_rules_for(core_.network(), target_.host, target_.port);
  const bool allowed = ruling.verdict == Verdict::kAllow || (allowed_once_ && !core_.is_denied(target_));
  if (allowed && rules_hold) return;
  if (ruling.verdict != Verdict::kAllow) core_.refuse(target_, ruling, peer(), process_);
  if (inspected_) core_.inspector().end(id_);
  reset();
}

void Tunnel::refuse(const Ruling& ruling) {
  core_.refuse(target_, ruling, peer(), process_);
  const std::string remedy = core_.remedy_for(target_, ruling);
  const std::string hint = remedy.empty() ? std::string() : cat({"; ", remedy, " would allow it"});
  answer_refusal(
      "blocked-by-allowlist",
      cat({"hutch: ", egress::to_string(target_), " is refused: ", ruling.why, " (", ruling.rule, ")", hint}),
      SocksResult::kNotAllowed);
}

// What the program sees.
void Tunnel::answer_refusal(std::string_view error, const std::string& text, SocksResult result) {
  if (!client_ || protocol_ == Protocol::kNone) return reset();
  if (protocol_ == Protocol::kSocks) (void)sys::write_some(client_.get(), socks_reply(socks_version_, result));
  if (protocol_ == Protocol::kHttp) {
    const bool reached = error == "unreachable" || error == "inspection";
    (void)sys::write_some(client_.get(),
                          proxy_refusal(reached ? 502 : 403, reached ? "Bad Gateway" : "Forbidden", error, text));
  }
  (void)sys::shut_down_writing(client_.get());
  end();
}

void Tunnel::tell_passed(std::uint64_t up, std::uint64_t down) {
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(SteadyClock::now() - began_steady_);
  core_.tell(Passed{target_, rule_, began_, took, up, down, process_});
}

void Tunnel::reset() {
  if (relay_ && !inspected_) {
    const Relay::Sockets sockets = relay_->release_sockets();
    if (sockets.client) sys::reset_on_close(sockets.client.get());
    if (sockets.upstream) sys::reset_on_close(sockets.upstream.get());
  }
  if (client_) sys::reset_on_close(client_.get());
  end();
}

void Tunnel::end() {
  watch_.stop();
  timer_.stop();
  alive_.reset();
  const auto on_end = std::move(on_end_);
  if (on_end) on_end();
}

}  // namespace hutch::egress
