// A chat with a model.
#include "service/bridge/inference.h"

#include <poll.h>
#include <signal.h>

#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/text.h"
#include "secret/scrubber.h"
#include "service/bridge/chat_stream.h"
#include "sys/files/files.h"
#include "sys/io.h"
#include "sys/process/process.h"

namespace hutch::service {

namespace {

constexpr std::chrono::milliseconds kInferenceSlice{500};
constexpr std::size_t kErrorBytesMax = 600;
constexpr std::chrono::minutes kQuietMax{5};  // without a byte: models think
constexpr int kOptionsFd = 3;
constexpr std::array<const char*, 3> kPlaces = {"/usr/bin/curl", "/usr/local/bin/curl", "/bin/curl"};

Result<std::string> curl_program() {
  for (const char* place : kPlaces) {
    if (sys::exists(place)) return std::string(place);
  }
  return fail(Error::unsupported("inference needs curl on this machine, which is not installed: apt-get install curl"));
}

// In an options file of curl's (curl(1), --config).
std::string option_text(std::string_view text) {
  std::string made = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') made += '\\';
    made += c;
  }
  return made + "\"";
}

Status follow(int output, ChatStream& stream, const std::function<Status(std::string_view)>& on_text,
              const std::function<bool()>& is_gone) {
  std::vector<char> bytes(16 << 10);
  auto last = std::chrono::steady_clock::now();
  for (;;) {
    std::array<pollfd, 1> wait = {{{output, POLLIN, 0}}};
    const int ready = TRY(sys::poll(wait, kInferenceSlice));
    if (is_gone()) return fail(Error{.code = Code::kConflict, .message = "whoever asked has gone"});
    if (ready == 0) {
      if (std::chrono::steady_clock::now() - last < kQuietMax) continue;
      return fail(Error{.code = Code::kTimeout, .message = "the model does not answer"});
    }
    last = std::chrono::steady_clock::now();
    const std::size_t size = TRY(sys::read_some(output, bytes));
    if (size == 0) return {};
    const std::string text = stream.take({bytes.data(), size});
    if (stream.is_too_long())
      return fail(Error{.code = Code::kSystem, .message = "the model's answer has lines without end"});
    if (!text.empty()) TRY(on_text(text));
  }
}

}  // namespace

std::string curl_options(const std::string& base_url, const std::string& key) {
  const std::string url = base_url.ends_with('/') ? base_url.substr(0, base_url.size() - 1) : base_url;
  std::string options =
      cat({"url = ", option_text(url + "/chat/completions"), "\nheader = \"Content-Type: application/json\"\n"});
  if (!key.empty()) options += cat({"header = ", option_text(cat({"Authorization: Bearer ", key})), "\n"});
  return options;
}

std::string chat_body(const ModelQuestion& question) {
  using nlohmann::json;
  json messages = json::array();
  for (const bridge::ChatMessage& message : question.messages) {
    messages.push_back({{"role", message.role}, {"content", message.content}});
  }
  const std::string& model = question.model.empty() ? question.endpoint.model : question.model;
  return json{{"model", model}, {"messages", std::move(messages)}, {"stream", true}}.dump(
      -1, ' ', false, json::error_handler_t::replace);
}

namespace {

Status ask_endpoint(const ModelQuestion& question, const std::function<Status(std::string_view text)>& on_text,
                    const std::function<bool()>& is_gone) {
  if (question.endpoint.base_url.empty()) {
    return fail(Error::unsupported("No model is configured: hutch settings set inference.baseUrl URL"));
  }
  const std::string program = TRY(curl_program());
  const UniqueFd options =
      TRY(sys::memory_file("curl-options", curl_options(question.endpoint.base_url, question.key)));
  const UniqueFd body = TRY(sys::memory_file("chat", chat_body(question)));
  const UniqueFd nothing = TRY(sys::open("/dev/null", sys::Open::kWrite));
  sys::Pipe output = TRY(sys::pipe());
  sys::ChildProcess curl = TRY(sys::spawn(
      program,
      {.arguments = {"curl", "--disable", "--silent", "--no-buffer", "--proto", "=http,https", "--max-filesize",
                     "67108864", "--config", "/dev/fd/3", "--data-binary", "@-"},
       .environment = {"PATH=/usr/bin:/bin"},
       .install = {{body.get(), 0}, {output.write.get(), 1}, {nothing.get(), 2}, {options.get(), kOptionsFd}}}));
  output.write.reset();
  ChatStream stream;
  const Status followed = follow(output.read.get(), stream, on_text, is_gone);
  // A line that has no end is one all the same.
  const std::string rest = stream.take("\n");
  if (!followed) (void)curl.signal(SIGKILL);
  const sys::WaitStatus ended = TRY(curl.wait());
  TRY(followed);
  if (!rest.empty()) TRY(on_text(rest));
  if (!stream.error().empty())
    return fail(Error{.code = Code::kSystem, .message = cat({"the model's endpoint: ", stream.error()})});
  const bool went_well = ended.exited() && ended.exit_code() == 0;
  if (went_well && stream.is_done()) return {};
  return fail(Error{.code = Code::kSystem,
                    .message = went_well ? "the model's answer broke off" : "the model's endpoint cannot be reached"});
}

// What an endpoint was sent it may answer with: the key is for it alone, and nothing of it for whoever asks.
secret::Scrubber without_key(const ModelQuestion& question) {
  const std::string& name = question.endpoint.key_secret;
  secret::Secret key;
  key.name = name.empty() ? "KEY" : name;
  key.value = question.key;
  return secret::Scrubber({key});
}

}  // namespace

Status ask_model(const ModelQuestion& question, const std::function<Status(std::string_view text)>& on_text,
                 const std::function<bool()>& is_gone) {
  const secret::Scrubber scrubber = without_key(question);
  secret::ScrubbedStream scrubbed(scrubber);
  const auto on_scrubbed = [&](std::string_view text) -> Status {
    const std::string shown = scrubbed.take(text);
    return shown.empty() ? Status() : on_text(shown);
  };
  const Status asked = ask_endpoint(question, on_scrubbed, is_gone);
  const std::string rest = scrubbed.finish();
  if (!rest.empty()) TRY(on_text(rest));
  if (asked) return {};
  // Of what an endpoint complains no more is shown than a person reads.
  Error error = asked.error();
  error.message = printable(scrubber.scrub(error.message), kErrorBytesMax);
  return fail(std::move(error));
}

}  // namespace hutch::service
