// The page: what it shows, what it takes, and one connection after the other.
#include "server/mcp_api/secret_page.h"

#include <array>
#include <chrono>
#include <utility>

#include "base/text.h"
#include "server/protocol/http_connection.h"
#include "sys/files/journal.h"
#include "sys/net/sockets.h"
#include "sys/process/threads.h"

namespace hutch::server {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t kPageTokenBytes = 32;
constexpr std::size_t kShownBytes = 2000;
// One at a time: whoever only connects keeps the person waiting for no longer.
constexpr http::Patience kPatience{.idle = milliseconds(2'000),
                                   .head = milliseconds(2'000),
                                   .body = milliseconds(5'000),
                                   .stall = milliseconds(2'000)};
constexpr std::size_t kPageBodyBytesMax = 1 << 20;

constexpr std::string_view kStyle =
    "body{font:16px system-ui,sans-serif;max-width:34rem;margin:4rem auto;padding:0 1rem}"
    "input{font:inherit;width:100%;box-sizing:border-box;padding:.5rem;margin:.5rem 0}"
    "button{font:inherit;padding:.5rem 1rem;margin-right:.5rem}blockquote{border-left:3px solid #999;margin:1rem 0;"
    "padding:0 1rem;white-space:pre-wrap;overflow-wrap:anywhere}code{font-weight:bold}.wrong{color:#b00}";

std::string html_of(std::string_view text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '&': html += "&amp;"; break;
      case '<': html += "&lt;"; break;
      case '>': html += "&gt;"; break;
      case '"': html += "&quot;"; break;
      case '\'': html += "&#39;"; break;
      default: html += c;
    }
  }
  return html;
}

http::Answer page(int status, std::string_view body) {
  http::Answer answer{.status = status, .type = "text/html; charset=utf-8"};
  answer.body = cat({"<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>hutch</title><style>",
                     kStyle, "</style></head><body>", body, "</body></html>\n"});
  answer.fields = {{"Cache-Control", "no-store"},
                   {"Referrer-Policy", "no-referrer"},
                   {"X-Content-Type-Options", "nosniff"},
                   {"Content-Security-Policy",
                    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; "
                    "base-uri 'none'"}};
  return answer;
}

// What the agent says is marked as its words: it could be asking for something else than it seems.
std::string form(const PageState& state, std::string_view wrong) {
  const service::SecretPrompt& prompt = state.prompt;
  const auto quoted = [](std::string_view title, std::string_view text) {
    if (text.empty()) return std::string();
    return cat({"<p>", title, "</p><blockquote>", html_of(printable(text, kShownBytes)), "</blockquote>"});
  };
  return cat({"<h1>A secret for agent ", html_of(printable(prompt.agent, 64)), "</h1><p>The agent asks for <code>",
              html_of(printable(prompt.key, 128)),
              "</code>. Programs of its sandbox will be able to use the value. No model is shown it.</p>",
              quoted("The agent says of it:", prompt.description), quoted("and how to get it:", prompt.instructions),
              wrong.empty() ? std::string() : cat({"<p class=\"wrong\">", html_of(wrong), "</p>"}),
              "<form method=\"post\" action=\"/", state.token,
              "\"><input type=\"password\" name=\"value\" autocomplete=\"off\" autofocus required aria-label=\"value\">"
              "<button name=\"do\" value=\"store\">Store</button>"
              "<button name=\"do\" value=\"cancel\" formnovalidate>Cancel</button></form>"});
}

bool is_same(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned differs = 0;
  for (std::size_t i = 0; i < a.size(); ++i) differs |= static_cast<unsigned char>(a[i] ^ b[i]);
  return differs == 0;
}

// Of a form, which has "+" for a blank (URL standard, application/x-www-form-urlencoded).
std::optional<http::Target> form_fields(std::string_view body) {
  std::string query = "/?";
  for (const char c : body) query += c == '+' ? std::string("%20") : std::string(1, c);
  return http::parse_target(query);
}

PageAnswer plain(int status, std::string_view text) {
  return {.answer = page(status, cat({"<h1>", html_of(text), "</h1><p>You can close this page.</p>"}))};
}

}  // namespace

PageAnswer answer_page(const PageState& state, const http::Request& request) {
  const std::string* host = request.field("host");
  const auto target = http::parse_target(request.target);
  const bool is_it = host != nullptr && *host == state.authority && target && target->segments.size() == 1 &&
                     is_same(target->segments.front(), state.token);
  if (!is_it) return plain(404, "There is nothing here");
  if (request.method == "GET") return {.answer = page(200, form(state, ""))};
  if (request.method != "POST") return plain(405, "Only GET and POST");
  const std::string* origin = request.field("origin");
  const bool of_another = origin != nullptr && *origin != cat({"http://", state.authority}) && *origin != "null";
  const std::string* type = request.field("content-type");
  const bool is_form = type != nullptr && type->starts_with("application/x-www-form-urlencoded");
  const auto fields = is_form && !of_another ? form_fields(request.body) : std::nullopt;
  if (!fields) return plain(400, "This is no answer to it");
  const std::string* act = fields->parameter("do");
  if (act != nullptr && *act == "cancel") {
    PageAnswer cancelled = plain(200, "Cancelled: the agent gets no value");
    cancelled.act = PageAnswer::Act::kCancel;
    return cancelled;
  }
  const std::string* value = fields->parameter("value");
  if (value == nullptr || value->empty()) return {.answer = page(400, form(state, "A value is missing."))};
  PageAnswer stored = plain(200, "Stored");
  stored.act = PageAnswer::Act::kStore;
  stored.value = *value;
  return stored;
}

Result<std::unique_ptr<SecretPage>> SecretPage::open(service::SecretPrompt prompt, Store store, Cancel cancel) {
  auto made = std::make_unique<SecretPage>(std::move(prompt), std::move(store), std::move(cancel));
  made->token_ = TRY(sys::random_hex(kPageTokenBytes));
  made->listener_ = TRY(sys::bind_socket(sys::Transport::kTcp, {IpAddress::v4(127, 0, 0, 1), 0}));
  made->authority_ = TRY(sys::bound_text(made->listener_.get()));
  made->stop_ = TRY(sys::pipe());
  made->thread_ = TRY(sys::start_thread([page = made.get()] { page->serve(); }));
  return made;
}

SecretPage::~SecretPage() {
  stop_.write.reset();
  if (thread_.joinable()) thread_.join();
}

std::string SecretPage::url() const { return cat({"http://", authority_, "/", token_}); }

void SecretPage::serve() {
  while (!over_) {
    std::array<pollfd, 2> wait = {{{listener_.get(), POLLIN, 0}, {stop_.read.get(), POLLIN, 0}}};
    if (!sys::poll(wait, std::nullopt) || wait[1].revents != 0) return;
    auto accepted = sys::accept_connection(listener_.get());
    if (accepted && *accepted) serve_one(std::move((*accepted)->socket));
  }
}

void SecretPage::serve_one(UniqueFd socket) {
  using Then = http::Connection::Then;
  http::Connection connection(std::move(socket), http::Connection::Kind::kTcp, kPatience);
  auto head = connection.read_head();
  if (!head || !*head) return;
  http::Request& request = **head;
  if (request.length && *request.length > kPageBodyBytesMax) return;
  const auto body = connection.read_body(request);
  if (!body || *body) return;
  const PageState state{prompt_, authority_, token_};
  PageAnswer answer = answer_page(state, request);
  if (answer.act == PageAnswer::Act::kStore) {
    const Status stored = store_(std::move(answer.value));
    if (!stored) answer.answer = page(400, form(state, stored.error().message));
    over_ = stored.has_value();
  }
  if (answer.act == PageAnswer::Act::kCancel) {
    cancel_();
    over_ = true;
  }
  (void)connection.send(answer.answer, Then::kClose);
  connection.linger();
}

}  // namespace hutch::server
