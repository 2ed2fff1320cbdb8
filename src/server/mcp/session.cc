// The MCP server's side of a conversation, without a transport.
#include "server/mcp/session.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <utility>
#include <variant>

#include "base/check.h"
#include "base/text.h"
#include "server/mcp/calls.h"
#include "server/mcp/inquiries.h"

namespace hutch::server::mcp {

namespace {

constexpr std::size_t kTurnBytesMax = 256;

}  // namespace

// Not in the anonymous namespace: the session's state, which the header declares, has these as members.
struct McpRequest {
  Incoming in;
  Era era = Era::kLegacy;
  Send send;
};

struct McpSubscription {
  Listening listening;
  Send send;
};

// Through which everything goes that is sent later than its request came: once it is shut nothing does.
class SendGate {
 public:
  void pass(const Send& send, Delivery delivery) {
    const std::shared_lock lock(mutex_);
    if (open_) send(std::move(delivery));
  }
  // Waits for what is on its way.
  void shut() {
    const std::unique_lock lock(mutex_);
    open_ = false;
  }

 private:
  std::shared_mutex mutex_;
  bool open_ = true;
};

namespace {

std::optional<RpcError> check_modern(const Incoming& in);
RpcError wrong_params(const Incoming& in, std::string message) {
  return {code::kInvalidParams, std::move(message), in.id};
}
int http_status_of(Era era, int error_code);
RpcError call_error(const McpRequest& request, const Error& error);
RpcError artifact_error(const McpRequest& request, const Error& error);

}  // namespace

class Session::State : public std::enable_shared_from_this<Session::State> {
 public:
  State(std::shared_ptr<ToolHost> host, Settings settings) : host_(std::move(host)), settings_(std::move(settings)) {
    CHECK(host_ && settings_.execute);
  }

  std::size_t receive(std::string_view text, const Send& send, const HttpHeaders* headers);
  void changed(std::string_view what, bool Listening::* wanted);
  std::optional<std::string> legacy_version() const;
  void finish(std::chrono::milliseconds at_most) { (void)calls_.wait(std::chrono::steady_clock::now() + at_most); }
  void close();

 private:
  // What is sent as the answer of a request.
  using Answer = std::variant<std::string, RpcError>;
  using Work = std::function<Answer(const McpRequest&, const std::shared_ptr<Call>&)>;
  struct Method {
    std::string_view name;
    bool legacy;
    bool modern;
    void (State::*serve)(const McpRequest&);
  };
  static const std::array<Method, 12> kMethods;

  std::size_t receive_batch(std::string_view text, const Send& send, const HttpHeaders* headers);
  void take_notification(const Incoming& in);
  void take_request(McpRequest request, const HttpHeaders* headers);

  void initialize(const McpRequest& request);
  void discover(const McpRequest& request) { answer(request, discover_answer(head(request), supported_versions())); }
  void ping(const McpRequest& request) { answer(request, empty_answer(head(request))); }
  void set_level(const McpRequest& request);
  void list_tools(const McpRequest& request) { answer(request, tools_answer(head(request), host_->list())); }
  void call_tool(const McpRequest& request);
  void list_artifacts(const McpRequest& request);
  void list_templates(const McpRequest& request) { answer(request, templates_answer(head(request))); }
  void read_artifact(const McpRequest& request);
  void list_prompts(const McpRequest& request) { answer(request, prompts_answer(head(request), host_->guides())); }
  void get_prompt(const McpRequest& request);
  void listen(const McpRequest& request);

  // A call of 2026-07-28 whose client can be asked: over as many requests as that takes.
  void call_in_rounds(const McpRequest& request);
  Rounds::Waiter waiter_for(const McpRequest& request, const std::shared_ptr<Call>& call,
                            const std::shared_ptr<Rounds>& rounds);
  void inquire(const std::shared_ptr<Call>& call, const Inquiry& inquiry);
  // Counts among those that run, or refuses the request.
  std::shared_ptr<Call> begin(const McpRequest& request);

  // Has `work` done by the executor, as a call that can be cancelled.
  void start(const McpRequest& request, Work work);
  Answer call_host(const McpRequest& request, const std::shared_ptr<Call>& call);
  Answer answer_of(const McpRequest& request, const Result<CallAnswer>& called) const;
  Result<std::optional<LogLevel>> log_level(const McpRequest& request) const;

  Head head(const McpRequest& request) const { return {request.in.id, request.era, settings_.server}; }
  static void answer(const McpRequest& request, std::string text) {
    request.send({Delivery::Part::kAnswer, std::move(text)});
  }
  static void refuse(const McpRequest& request, const RpcError& error) {
    request.send({Delivery::Part::kAnswer, error_answer(error), http_status_of(request.era, error.code)});
  }
  static Delivery delivery(const Answer& answer, Era era);

  std::shared_ptr<ToolHost> host_;
  Settings settings_;
  Calls calls_;
  Elicitations elicitations_;
  std::shared_ptr<SendGate> gate_ = std::make_shared<SendGate>();
  mutable std::mutex mutex_;  // of what follows
  bool closed_ = false;
  std::optional<std::string> version_;  // what `initialize` agreed on
  bool elicits_ = false;                // what `initialize` said
  bool opens_pages_ = false;            // likewise
  LogLevel level_ = LogLevel::kWarning;  // what commands print is told to who asks for it
  std::map<std::string, McpSubscription> subscriptions_;
};

constexpr bool kYes = true;
constexpr bool kNo = false;
const std::array<Session::State::Method, 12> Session::State::kMethods = {{
    {"initialize", kYes, kNo, &State::initialize},
    {"ping", kYes, kNo, &State::ping},
    {"logging/setLevel", kYes, kNo, &State::set_level},
    {"server/discover", kNo, kYes, &State::discover},
    {"subscriptions/listen", kNo, kYes, &State::listen},
    {"tools/list", kYes, kYes, &State::list_tools},
    {"tools/call", kYes, kYes, &State::call_tool},
    {"resources/list", kYes, kYes, &State::list_artifacts},
    {"resources/templates/list", kYes, kYes, &State::list_templates},
    {"resources/read", kYes, kYes, &State::read_artifact},
    {"prompts/list", kYes, kYes, &State::list_prompts},
    {"prompts/get", kYes, kYes, &State::get_prompt},
}};

Session::Session(std::shared_ptr<ToolHost> host, Settings settings)
    : state_(std::make_shared<State>(std::move(host), std::move(settings))) {}

Session::~Session() { close(); }

std::size_t Session::receive(std::string_view text, const Send& send, const HttpHeaders* headers) {
  return state_->receive(text, send, headers);
}

void Session::tools_changed() { state_->changed("tools", &Listening::tools); }
void Session::artifacts_changed() { state_->changed("resources", &Listening::resources); }
std::optional<std::string> Session::legacy_version() const { return state_->legacy_version(); }
void Session::finish(std::chrono::milliseconds at_most) { state_->finish(at_most); }

void Session::close() { state_->close(); }

std::size_t Session::State::receive(std::string_view text, const Send& send, const HttpHeaders* headers) {
  if (is_batch(text)) return receive_batch(text, send, headers);
  auto read = read_message(text);
  if (const auto* error = std::get_if<RpcError>(&read)) {
    refuse({Incoming{}, Era::kLegacy, send}, *error);
    return 1;
  }
  auto& in = std::get<Incoming>(read);
  switch (in.kind) {
    case Incoming::Kind::kResponse: elicitations_.take(in.id, in.elicited); return 0;
    case Incoming::Kind::kNotification: take_notification(in); return 0;
    case Incoming::Kind::kRequest: break;
  }
  const Era era = in.meta.version ? Era::kModern : Era::kLegacy;
  const Send through = [gate = gate_, send](Delivery delivery) { gate->pass(send, std::move(delivery)); };
  take_request({std::move(in), era, through}, headers);
  return 1;
}

// 2025-03-26 alone has batches. Their answers are sent one by one, which it allows.
std::size_t Session::State::receive_batch(std::string_view text, const Send& send, const HttpHeaders* headers) {
  const auto items = legacy_version() == "2025-03-26" ? split_batch(text) : std::nullopt;
  if (!items) {
    const RpcError error{code::kInvalidRequest, "a batch: send each message by itself"};
    refuse({Incoming{}, Era::kLegacy, send}, error);
    return 1;
  }
  std::size_t requests = 0;
  for (const std::string& item : *items) {
    requests += is_batch(item) ? 0 : receive(item, send, headers);
  }
  return requests;
}

void Session::State::take_notification(const Incoming& in) {
  // One that is wrong, or of a request that is not there any more, is passed over (cancellation, error handling).
  if (in.method != "notifications/cancelled" || in.request_id.empty()) return;
  calls_.cancel(in.request_id);
  std::optional<McpSubscription> ended;
  {
    const std::lock_guard lock(mutex_);
    const auto found = subscriptions_.find(in.request_id);
    if (found == subscriptions_.end()) return;
    ended = std::move(found->second);
    subscriptions_.erase(found);
  }
  ended->send({Delivery::Part::kNothing});
}

void Session::State::take_request(McpRequest request, const HttpHeaders* headers) {
  const Incoming& in = request.in;
  const bool modern = request.era == Era::kModern;
  if (headers != nullptr) {
    if (const auto error = check_headers(in, *headers)) return refuse(request, *error);
  }
  if (modern) {
    if (const auto error = check_modern(in)) {
      return request.send({Delivery::Part::kAnswer, error_answer(*error), 400});
    }
  }
  const auto method = std::ranges::find(kMethods, in.method, &Method::name);
  const bool begun = modern || in.method == "initialize" || in.method == "ping" || legacy_version().has_value();
  if (method == kMethods.end() || (begun && !(modern ? method->modern : method->legacy))) {
    const std::string text = cat({"Method not found: ", printable(in.method, 100)});
    return refuse(request, {code::kMethodNotFound, text, in.id});
  }
  if (!begun) {
    RpcError error = wrong_params(in, "neither `initialize` came before, nor is there a protocol version in _meta");
    error.data_json = version_data(supported_versions(), "");
    return request.send({Delivery::Part::kAnswer, error_answer(error), 400});
  }
  if (!in.wrong.empty()) return refuse(request, wrong_params(in, cat({in.wrong, " has the wrong type"})));
  if (in.has_cursor) return refuse(request, wrong_params(in, "no cursor was given out: every list is whole"));
  (this->*method->serve)(request);
}

void Session::State::initialize(const McpRequest& request) {
  const auto& wanted = request.in.protocol_version;
  if (!wanted) return refuse(request, wrong_params(request.in, "params.protocolVersion is missing"));
  const std::string agreed(is_legacy(*wanted) ? *wanted : kLegacyVersions.front());
  bool again = false;
  {
    const std::lock_guard lock(mutex_);
    again = version_.has_value();
    if (!again) elicits_ = request.in.elicits;
    if (!again) opens_pages_ = request.in.opens_pages;
    if (!again) version_ = agreed;
  }
  if (again) return refuse(request, {code::kInvalidRequest, "`initialize` came before", request.in.id});
  answer(request, initialize_answer(head(request), agreed));
}

void Session::State::set_level(const McpRequest& request) {
  const auto level = log_level_of(request.in.level.value_or(""));
  if (!level) return refuse(request, wrong_params(request.in, "params.level is no log level"));
  {
    const std::lock_guard lock(mutex_);
    level_ = *level;
  }
  answer(request, empty_answer(head(request)));
}

void Session::State::call_tool(const McpRequest& request) {
  if (!request.in.name) return refuse(request, wrong_params(request.in, "params.name is missing"));
  if (request.in.meta.turn.size() > kTurnBytesMax) {
    return refuse(request, wrong_params(request.in, "params._meta.hutch/turn is too long"));
  }
  const bool answers = request.in.meta.elicits || request.in.meta.opens_pages;
  if (request.era == Era::kModern && answers && settings_.parked) return call_in_rounds(request);
  start(request, [this](const McpRequest& what, const std::shared_ptr<Call>& call) { return call_host(what, call); });
}

Session::State::Answer Session::State::call_host(const McpRequest& request, const std::shared_ptr<Call>& call) {
  CallOptions options;
  options.turn = request.in.meta.turn;
  options.on_progress = [call](const Progress& progress) { call->progress(progress); };
  options.on_log = [call](LogLevel level, std::string_view text) { call->log(level, text); };
  options.cancelled = call->cancelled();
  bool elicits = false;
  bool opens_pages = false;
  if (request.era == Era::kLegacy) {
    const std::lock_guard lock(mutex_);
    elicits = elicits_;
    opens_pages = opens_pages_;
  }
  if (elicits) {
    options.inquire = [this, call](const Inquiry& inquiry) { this->inquire(call, inquiry); };
  }
  if (opens_pages) {
    options.show = [this, call](const Inquiry& inquiry) { this->inquire(call, inquiry); };
    options.shown = [call](const std::string& key) { call->tell(elicitation_complete(key)); };
  }
  options.withdraw = [this](const std::string& key) { elicitations_.withdraw(key); };
  return answer_of(request, host_->call(*request.in.name, request.in.arguments_json, options));
}

void Session::State::inquire(const std::shared_ptr<Call>& call, const Inquiry& inquiry) {
  if (const auto id = elicitations_.add(inquiry)) call->tell(elicitation_request(*id, inquiry));
}

Session::State::Answer Session::State::answer_of(const McpRequest& request, const Result<CallAnswer>& called) const {
  if (!called) return call_error(request, called.error());
  auto text = call_answer(head(request), *called);
  if (text) return std::move(*text);
  return call_error(request, text.error());
}

void Session::State::call_in_rounds(const McpRequest& request) {
  std::shared_ptr<Rounds> rounds;
  if (!request.in.request_state.empty()) {
    rounds = settings_.parked->take(request.in.request_state, *request.in.name);
    if (!rounds) return refuse(request, wrong_params(request.in, "params.requestState is of no call that waits"));
  }
  const std::shared_ptr<Call> call = begin(request);
  if (!call) {
    if (rounds) rounds->stop();
    return;
  }
  if (rounds) {
    for (const auto& [key, response] : request.in.input_responses) rounds->answer(key, response);
    return rounds->wait(call, waiter_for(request, call, rounds));
  }
  rounds = std::make_shared<Rounds>();
  rounds->wait(call, waiter_for(request, call, rounds));
  settings_.execute([self = shared_from_this(), rounds, in = request.in] {
    CallOptions options;
    options.turn = in.meta.turn;
    options.on_progress = [&](const Progress& progress) { rounds->call()->progress(progress); };
    options.on_log = [&](LogLevel level, std::string_view text) { rounds->call()->log(level, text); };
    options.cancelled = rounds->stopped();
    if (in.meta.elicits) options.inquire = [&](const Inquiry& inquiry) { rounds->inquire(inquiry); };
    if (in.meta.opens_pages) options.show = [&](const Inquiry& inquiry) { rounds->inquire(inquiry); };
    options.withdraw = [&](const std::string& key) { rounds->withdraw(key); };
    rounds->finish(self->host_->call(*in.name, in.arguments_json, options));
  });
}

Rounds::Waiter Session::State::waiter_for(const McpRequest& request, const std::shared_ptr<Call>& call,
                                          const std::shared_ptr<Rounds>& rounds) {
  // The rounds hold this until it is called: it must not hold them.
  return [self = shared_from_this(), request, call, weak = std::weak_ptr(rounds)](const Result<CallAnswer>* done,
                                                                                  const std::vector<Inquiry>& open) {
    Answer answer;
    const auto going_on = weak.lock();
    if (done != nullptr) {
      answer = self->answer_of(request, *done);
    } else if (going_on) {
      const auto state = self->settings_.parked->add(going_on, *request.in.name, std::chrono::steady_clock::now());
      if (state) answer = input_required_answer(self->head(request), open, *state);
      if (!state) answer = RpcError{code::kInternal, state.error().message, request.in.id};
    }
    self->calls_.answer(request.in.id, call, delivery(answer, request.era));
  };
}

void Session::State::list_artifacts(const McpRequest& request) {
  start(request, [this](const McpRequest& what, const std::shared_ptr<Call>&) -> Answer {
    const auto artifacts = host_->artifacts();
    if (!artifacts) return RpcError{code::kInternal, artifacts.error().message, what.in.id};
    return artifacts_answer(head(what), *artifacts);
  });
}

void Session::State::read_artifact(const McpRequest& request) {
  if (!request.in.uri) return refuse(request, wrong_params(request.in, "params.uri is missing"));
  start(request, [this](const McpRequest& what, const std::shared_ptr<Call>&) -> Answer {
    const auto content = host_->read_artifact(*what.in.uri);
    if (!content) return artifact_error(what, content.error());
    return artifact_answer(head(what), *what.in.uri, *content);
  });
}

void Session::State::get_prompt(const McpRequest& request) {
  if (!request.in.name) return refuse(request, wrong_params(request.in, "params.name is missing"));
  const std::vector<Guide> guides = host_->guides();
  const auto found = std::ranges::find(guides, *request.in.name, &Guide::name);
  if (found == guides.end()) {
    return refuse(request, wrong_params(request.in, cat({"Unknown prompt: ", printable(*request.in.name, 100)})));
  }
  answer(request, prompt_answer(head(request), *found));
}

void Session::State::listen(const McpRequest& request) {
  const Listening listening{request.in.wants_tools_changed, request.in.wants_resources_changed};
  bool taken = false;
  {
    // Acknowledged under the lock: nothing may be told on it before.
    const std::lock_guard lock(mutex_);
    taken = !closed_ && subscriptions_.size() < kSubscriptionsMax && !subscriptions_.contains(request.in.id);
    if (taken) {
      subscriptions_.emplace(request.in.id, McpSubscription{listening, request.send});
      request.send({Delivery::Part::kNotification, listening_notification(request.in.id, listening)});
    }
  }
  if (!taken) refuse(request, {code::kInvalidRequest, "too many subscriptions, or one with this id", request.in.id});
}

std::shared_ptr<Call> Session::State::begin(const McpRequest& request) {
  const auto level = log_level(request);
  if (!level) {
    refuse(request, wrong_params(request.in, level.error().message));
    return nullptr;
  }
  const auto call = std::make_shared<Call>(
      request.send, Call::Settings{request.in.meta.progress_token, *level, settings_.progress_interval});
  switch (calls_.add(request.in.id, call)) {
    case Calls::Added::kYes: break;
    case Calls::Added::kIdInUse:
      refuse(request, {code::kInvalidRequest, "a request with this id is still worked on", request.in.id});
      return nullptr;
    case Calls::Added::kTooMany:
      refuse(request, {code::kInternal, "too many requests at once: try again later", request.in.id});
      return nullptr;
  }
  {
    const std::lock_guard lock(mutex_);
    if (closed_) call->cancel();
  }
  return call;
}

void Session::State::start(const McpRequest& request, Work work) {
  const std::shared_ptr<Call> call = begin(request);
  if (!call) return;
  settings_.execute([self = shared_from_this(), request, call, work = std::move(work)] {
    // Cancelled while it waited for its turn: it is not begun.
    if (call->cancelled().stop_requested()) return self->calls_.forget(request.in.id, call);
    const Answer done = work(request, call);
    self->calls_.answer(request.in.id, call, delivery(done, request.era));
  });
}

// Of the first era the session has a level; later a request asks for it, or hears nothing.
Result<std::optional<LogLevel>> Session::State::log_level(const McpRequest& request) const {
  if (request.era == Era::kLegacy) {
    const std::lock_guard lock(mutex_);
    return std::optional(level_);
  }
  if (!request.in.meta.log_level) return std::optional<LogLevel>();
  const auto level = log_level_of(*request.in.meta.log_level);
  if (!level) return fail(Error::invalid("params._meta.io.modelcontextprotocol/logLevel is no log level"));
  return level;
}

void Session::State::changed(std::string_view what, bool Listening::* wanted) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  if (version_ && settings_.unasked) settings_.unasked(changed_notification(what, ""));
  for (const auto& [id, subscription] : subscriptions_) {
    if (!(subscription.listening.*wanted)) continue;
    subscription.send({Delivery::Part::kNotification, changed_notification(what, id)});
  }
}

std::optional<std::string> Session::State::legacy_version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

void Session::State::close() {
  std::map<std::string, McpSubscription> subscriptions;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    subscriptions.swap(subscriptions_);
  }
  calls_.cancel_all();
  for (const auto& [id, subscription] : subscriptions) {
    subscription.send({Delivery::Part::kAnswer, subscription_end({id, Era::kModern, settings_.server})});
  }
  gate_->shut();
}

Delivery Session::State::delivery(const Answer& answer, Era era) {
  if (const auto* text = std::get_if<std::string>(&answer)) return {Delivery::Part::kAnswer, *text};
  const RpcError& error = std::get<RpcError>(answer);
  return {Delivery::Part::kAnswer, error_answer(error), http_status_of(era, error.code)};
}

namespace {

// What every request has to say of itself from 2026-07-28 on.
std::optional<RpcError> check_modern(const Incoming& in) {
  if (*in.meta.version != kModernVersion) {
    return RpcError{code::kUnsupportedVersion, "Unsupported protocol version", in.id,
                    version_data(supported_versions(), *in.meta.version)};
  }
  if (in.meta.has_capabilities) return std::nullopt;
  return wrong_params(in, "params._meta.io.modelcontextprotocol/clientCapabilities is missing");
}

// As streamable HTTP has them; before 2026-07-28 a method that is not there is an ordinary answer.
int http_status_of(Era era, int error_code) {
  switch (error_code) {
    case code::kParse:
    case code::kInvalidRequest:
    case code::kHeaderMismatch:
    case code::kUnsupportedVersion: return 400;
    case code::kMethodNotFound: return era == Era::kModern ? 404 : 200;
    default: return 200;
  }
}

RpcError call_error(const McpRequest& request, const Error& error) {
  switch (error.code) {
    case Code::kNotFound:
      return {code::kInvalidParams, cat({"Unknown tool: ", printable(*request.in.name, 100)}), request.in.id};
    case Code::kInvalidArgument: return {code::kInvalidParams, error.message, request.in.id};
    case Code::kPermissionDenied:
    case Code::kConflict:
    case Code::kUnsupported:
    case Code::kTimeout:
    case Code::kSystem: break;
  }
  return {code::kInternal, error.message, request.in.id};
}

RpcError artifact_error(const McpRequest& request, const Error& error) {
  if (error.code != Code::kNotFound) return {code::kInternal, error.message, request.in.id};
  const int number = request.era == Era::kModern ? code::kInvalidParams : code::kLegacyResourceNotFound;
  return {number, "Resource not found", request.in.id, text_data("uri", *request.in.uri)};
}

}  // namespace

}  // namespace hutch::server::mcp
