// Files of a sandbox that are written as their bytes come.
#include "server/http/upload.h"

#include <charconv>
#include <utility>

#include "base/text.h"
#include "sys/files/journal.h"

namespace hutch::server::http {

namespace {

Result<std::uint64_t> random_id() {
  const std::string digits = TRY(sys::random_hex(sizeof(std::uint64_t)));
  std::uint64_t id = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), id, 16);
  return id;
}

Result<wire::FileWritten> written_of(const AskFiles& files, const wire::FileRequest& request) {
  wire::FileReply reply = TRY(files(request));
  if (auto* written = std::get_if<wire::FileWritten>(&reply)) return std::move(*written);
  return fail(Error{Code::kSystem, 0, "the sandbox answered something else"});
}

// Until the piece that is shorter than was asked for. The refusal, where there was one.
Result<std::optional<Refusal>> append_all(const AskFiles& files, std::uint64_t id, std::string piece,
                                          const Pieces& next) {
  for (bool last = false;; last = piece.size() < kUploadPieceBytes) {
    if (!piece.empty()) TRY(files(wire::AppendUpload{id, std::move(piece)}));
    if (last) return std::optional<Refusal>();
    auto more = TRY(next(kUploadPieceBytes));
    if (auto* refusal = std::get_if<Refusal>(&more)) return std::optional(std::move(*refusal));
    piece = std::move(std::get<std::string>(more));
  }
}

Result<Written> upload(const AskFiles& files, const wire::BeginUpload& begin, std::string piece, const Pieces& next) {
  TRY(files(begin));
  const auto appended = append_all(files, begin.id, std::move(piece), next);
  if (appended && !*appended) {
    return Written(TRY(written_of(files, wire::EndUpload{begin.id, wire::EndUpload::Then::kPut})));
  }
  // Of a server that has ended nothing is left to drop.
  (void)files(wire::EndUpload{begin.id, wire::EndUpload::Then::kDrop});
  if (!appended) return fail(appended.error());
  return Written(**appended);
}

}  // namespace

Result<Written> write_pieces(const AskFiles& files, const wire::FilePlace& place, std::optional<std::uint32_t> mode,
                             const Pieces& next) {
  auto first = TRY(next(kUploadPieceBytes));
  if (auto* refusal = std::get_if<Refusal>(&first)) return Written(std::move(*refusal));
  std::string& content = std::get<std::string>(first);
  if (content.size() < kUploadPieceBytes) {
    return Written(TRY(written_of(files, wire::WriteFile{place, std::move(content), mode, {}})));
  }
  return upload(files, {place, TRY(random_id()), mode}, std::move(content), next);
}

Result<PieceOrRefusal> BodyBytes::some() {
  if (exchange_.request().length.value_or(0) > most_) return PieceOrRefusal(too_large());
  auto piece = TRY(exchange_.connection().read_body_piece(exchange_.request()));
  if (const auto* bytes = std::get_if<std::string>(&piece)) total_ += bytes->size();
  if (total_ > most_) return PieceOrRefusal(too_large());
  return piece;
}

Result<PieceOrRefusal> BodyBytes::next(std::size_t most) {
  std::string bytes = std::exchange(ahead_, {});
  while (bytes.size() < most) {
    auto piece = TRY(some());
    if (std::holds_alternative<Refusal>(piece)) return piece;
    const auto& read = std::get<std::string>(piece);
    if (read.empty()) break;
    bytes += read;
  }
  if (bytes.size() > most) {
    ahead_ = bytes.substr(most);
    bytes.resize(most);
  }
  return PieceOrRefusal(std::move(bytes));
}

Refusal BodyBytes::too_large() const {
  return {
      413, "body_too_large",
      cat({"a file that is written has at most ", std::to_string(most_), " bytes (daemon.maxUpload of config.json)"})};
}

}  // namespace hutch::server::http
