// Files of a sandbox that are written as their bytes come, all of them or nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "server/http/exchange.h"
#include "wire/files.h"

namespace hutch::server::http {

inline constexpr std::size_t kUploadPieceBytes = 1 << 20;  // at once, of a file that is larger

using PieceOrRefusal = std::variant<std::string, Refusal>;

// The reply of the sandbox's file server, with the type that belongs to the request.
template <class Reply>
Result<Reply> ask_files(service::AgentSandbox& agent, const wire::FileRequest& request) {
  wire::FileReply reply = TRY(agent.file(request));
  if (auto* wanted = std::get_if<Reply>(&reply)) return std::move(*wanted);
  return fail(Error{Code::kSystem, 0, "the sandbox answered something else"});
}

// As many bytes as are asked for; fewer at the end alone.
using Pieces = std::function<Result<PieceOrRefusal>(std::size_t most)>;

// A body that breaks off leaves what was there.
using Written = std::variant<wire::FileWritten, Refusal>;
using AskFiles = std::function<Result<wire::FileReply>(const wire::FileRequest& request)>;
Result<Written> write_pieces(const AskFiles& files, const wire::FilePlace& place, std::optional<std::uint32_t> mode,
                             const Pieces& next);

// The body of a request piece by piece, held to what daemon.maxUpload says of a file.
class BodyBytes {
 public:
  explicit BodyBytes(Exchange& exchange) : exchange_(exchange), most_(exchange.shared().upload_max) {}
  Result<PieceOrRefusal> some();                   // as they come; "" at the end
  Result<PieceOrRefusal> next(std::size_t most);  // as Pieces have it

 private:
  Refusal too_large() const;
  Exchange& exchange_;
  const std::uint64_t most_;
  std::uint64_t total_ = 0;
  std::string ahead_;
};

}  // namespace hutch::server::http
