// A page on loopback with one password field, for one secret that an agent has asked its person for (MCP 2025-11-25,
// "URL Mode Elicitation Requests"): the value goes from the browser to the daemon, and through no client and no model.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/result.h"
#include "base/unique_fd.h"
#include "server/protocol/http_message.h"
#include "service/questions/secret_prompts.h"
#include "sys/io.h"

namespace hutch::server {

// What a request to it comes to. Pure.
struct PageAnswer {
  enum class Act { kNone, kStore, kCancel } act = Act::kNone;
  std::string value{};  // of kStore
  http::Answer answer;
};
struct PageState {
  const service::SecretPrompt& prompt;
  std::string_view authority;  // "127.0.0.1:40123"
  std::string_view token;
};
// Whoever does not name the authority and the token gets 404; so does a page of somebody else's that has a browser send
// the form.
PageAnswer answer_page(const PageState& page, const http::Request& request);

class SecretPage {
 public:
  // By a thread of the page's own. An error is told on the page, and it stays open.
  using Store = std::function<Status(std::string value)>;
  using Cancel = std::function<void()>;
  static Result<std::unique_ptr<SecretPage>> open(service::SecretPrompt prompt, Store store, Cancel cancel);
  // Serves nobody yet: open() does.
  SecretPage(service::SecretPrompt prompt, Store store, Cancel cancel)
      : prompt_(std::move(prompt)), store_(std::move(store)), cancel_(std::move(cancel)) {}
  // Nobody is served any more. Not from one of the two functions.
  ~SecretPage();
  SecretPage(const SecretPage&) = delete;
  SecretPage& operator=(const SecretPage&) = delete;

  std::string url() const;

 private:
  void serve();
  void serve_one(UniqueFd socket);

  const service::SecretPrompt prompt_;
  const Store store_;
  const Cancel cancel_;
  std::string authority_;
  std::string token_;
  UniqueFd listener_;
  sys::Pipe stop_;
  std::thread thread_;
  bool over_ = false;  // of the thread's own
};

}  // namespace hutch::server
