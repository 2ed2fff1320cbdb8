// TLS on both ends of a connection: hutch is the server for the client, and a client of the real server.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "inspect/authority.h"
#include "inspect/judge.h"
#include "inspect/stream.h"
#include "inspect/trust.h"
#include "wire/inspect.h"

struct ssl_ctx_st;

namespace hutch::inspect {

enum class Protocol { kHttp1, kHttp2 };

struct Opened {
  Protocol protocol = Protocol::kHttp1;
  // The server could not be verified: the client is there, and has to be told.
  std::optional<Refusal> unusable;
};

// What all connections share; used by many threads at once.
class Tls {
 public:
  // `authority` is that of a predecessor; empty: one is made.
  static Result<std::unique_ptr<Tls>> make(TrustStore trust, const std::string& authority);

  const Authority& authority() const { return *authority_; }

  // Shakes hands with both. The server comes first, once the client has said which protocols it speaks, so that both
  // ends speak the same. An error: the client has gone, or named another host; a refusal in it is to be reported.
  struct Failure {
    std::optional<Refusal> refusal;
  };
  std::expected<Opened, Failure> open(const wire::Inspect& connection, Stream& client, Stream& upstream) const;

 private:
  struct ContextDeleter {
    void operator()(ssl_ctx_st* context) const;
  };
  using Context = std::unique_ptr<ssl_ctx_st, ContextDeleter>;

  Tls() = default;
  Status make_contexts(TrustStore trust);

  std::unique_ptr<Authority> authority_;
  Context server_;
  Context client_;
};

}  // namespace hutch::inspect
