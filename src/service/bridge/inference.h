// A chat with the model that the user's settings name, by curl(1): the one program that the daemon speaks TLS by.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bridge/call.h"
#include "store/settings.h"

namespace hutch::service {

struct ModelQuestion {
  store::Settings::Inference endpoint;
  std::string key;    // empty: none is sent
  std::string model;  // empty: the endpoint's
  const std::vector<bridge::ChatMessage>& messages;
};

// `on_text` gets the answer as it comes; its error ends the chat. Code::kUnsupported where no endpoint is configured,
// or curl is not installed.
Status ask_model(const ModelQuestion& question, const std::function<Status(std::string_view text)>& on_text,
                 const std::function<bool()>& is_gone);

// What curl reads as its options: the address and the header with the key, which is in no argument vector so.
std::string curl_options(const std::string& base_url, const std::string& key);
// The request.
std::string chat_body(const ModelQuestion& question);

}  // namespace hutch::service
