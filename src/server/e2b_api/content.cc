// What is in files of the E2B-compatible API, and whether a sandbox is there at all.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "server/e2b/paths.h"
#include "server/e2b_api/e2b_view.h"
#include "server/http/upload.h"
#include "server/protocol/multipart.h"

namespace hutch::server::e2b {

namespace {

using http::BodyType;
using http::PieceOrRefusal;
using http::Refusal;
using http::Route;

// Clients may be slow, and many: each holds one piece.
constexpr std::uint64_t kContentPieceBytes = 256 << 10;
constexpr std::uint64_t kPieceCopies = 2;

Handled report_health(Exchange&, const Inside&) { return Answer{.status = 204, .type = {}}; }

// As long as the file was when it was first looked at, and of that file alone.
Handled read_content(Exchange& exchange, const Inside& inside) {
  const std::string path = TRY(path_of_client(*inside.agent, inside.user, exchange.query("path")));
  TRY(hold_more(inside.held, kPieceCopies * kContentPieceBytes));
  auto piece = ask<wire::FileContent>(inside, wire::ReadFile{place_of(path), 0, kContentPieceBytes});
  if (!piece) return fail(std::move(piece).error());
  Answer head{.type = "application/octet-stream"};
  if (piece->bytes.size() >= piece->stat.version.size) {
    head.body = std::move(piece->bytes);
    return head;
  }
  TRY(exchange.begin(head));
  const wire::FileVersion version = piece->stat.version;
  for (std::uint64_t offset = 0;;) {
    TRY(exchange.connection().send_piece(piece->bytes));
    offset += piece->bytes.size();
    if (offset >= version.size) return http::Streamed{};
    const std::uint64_t most = std::min<std::uint64_t>(version.size - offset, kContentPieceBytes);
    piece = ask<wire::FileContent>(inside, wire::ReadFile{place_of(path), offset, most});
    if (!piece) return fail(piece.error());
    if (piece->stat.version.inode != version.inode || piece->bytes.empty()) {
      return fail(Error{Code::kConflict, 0, "the file was changed while it was read"});
    }
  }
}

Value::Object written_object(const std::string& path) {
  return {{"name", last_name(path)}, {"path", path}, {"type", "file"}};
}

// The files of a form, one after another as they come.
class Form {
 public:
  Form(Exchange& exchange, std::string_view boundary) : body_(exchange), reader_(boundary) {}

  // Until a part, or the end; what is left of the part before is passed over.
  Result<std::variant<MultipartReader::Part, MultipartReader::FormEnd, Refusal>> next_part();
  // Of that part.
  Result<PieceOrRefusal> next(std::size_t most);

 private:
  Result<std::variant<MultipartReader::Event, Refusal>> event();

  http::BodyBytes body_;
  MultipartReader reader_;
  std::string ahead_;
  bool part_over_ = true;
};

Result<std::variant<MultipartReader::Event, Refusal>> Form::event() {
  using Either = std::variant<MultipartReader::Event, Refusal>;
  for (;;) {
    MultipartReader::Event event = TRY(reader_.next());
    if (!std::holds_alternative<MultipartReader::More>(event)) return Either(std::move(event));
    auto piece = TRY(body_.some());
    if (auto* refusal = std::get_if<Refusal>(&piece)) return Either(std::move(*refusal));
    const auto& bytes = std::get<std::string>(piece);
    if (bytes.empty()) return fail(Error::invalid("the form ends before its last boundary"));
    reader_.add(bytes);
  }
}

Result<std::variant<MultipartReader::Part, MultipartReader::FormEnd, Refusal>> Form::next_part() {
  ahead_.clear();
  for (;;) {
    auto found = TRY(event());
    if (auto* refusal = std::get_if<Refusal>(&found)) return std::move(*refusal);
    auto& event = std::get<MultipartReader::Event>(found);
    if (std::holds_alternative<MultipartReader::FormEnd>(event)) return MultipartReader::FormEnd();
    if (auto* part = std::get_if<MultipartReader::Part>(&event)) {
      part_over_ = false;
      return std::move(*part);
    }
  }
}

Result<PieceOrRefusal> Form::next(std::size_t most) {
  std::string bytes = std::exchange(ahead_, {});
  while (!part_over_ && bytes.size() < most) {
    auto found = TRY(event());
    if (auto* refusal = std::get_if<Refusal>(&found)) return PieceOrRefusal(std::move(*refusal));
    auto& event = std::get<MultipartReader::Event>(found);
    if (const auto* data = std::get_if<MultipartReader::Data>(&event)) {
      bytes += data->bytes;
    } else {
      part_over_ = true;
    }
  }
  if (bytes.size() > most) {
    ahead_ = bytes.substr(most);
    bytes.resize(most);
  }
  return PieceOrRefusal(std::move(bytes));
}

// {"code", "message"} of what a form or a file was refused for; absent: it was written.
Result<std::optional<Answer>> write_one(const Inside& inside, const std::string& path, const http::Pieces& pieces) {
  const auto asker = [&inside](const wire::FileRequest& request) { return inside.file(request); };
  auto written = TRY(http::write_pieces(asker, place_of(path), std::nullopt, pieces));
  if (const auto* refusal = std::get_if<Refusal>(&written)) {
    return std::optional(error_answer(refusal->status, refusal->message));
  }
  return std::optional<Answer>();
}

Handled write_form(Exchange& exchange, const Inside& inside, std::string_view boundary) {
  const std::string given = exchange.query("path");
  Form form(exchange, boundary);
  Value::List files;
  for (;;) {
    auto next = TRY(form.next_part());
    if (const auto* refusal = std::get_if<Refusal>(&next)) return error_answer(refusal->status, refusal->message);
    const auto* part = std::get_if<MultipartReader::Part>(&next);
    if (part == nullptr) break;
    if (part->name != "file") continue;
    if (!given.empty() && !files.empty()) return fail(Error::invalid("path names one file, and the form has several"));
    const std::string name = given.empty() ? part->filename.value_or("") : given;
    if (name.empty()) return fail(Error::invalid("a file of the form has no name, and path is missing"));
    const std::string path = TRY(path_of_client(*inside.agent, inside.user, name));
    const auto pieces = [&form](std::size_t most) { return form.next(most); };
    if (auto refused = TRY(write_one(inside, path, pieces))) return std::move(*refused);
    files.emplace_back(written_object(path));
  }
  if (files.empty()) return fail(Error::invalid("the form has no part named file"));
  return json(200, Value(std::move(files)));
}

Handled write_content(Exchange& exchange, const Inside& inside) {
  const std::string* type = exchange.request().field("content-type");
  if (type == nullptr) return error_answer(415, "files come as multipart/form-data or application/octet-stream");
  const std::string* encoding = exchange.request().field("content-encoding");
  if (encoding != nullptr && *encoding != "identity") return error_answer(415, "files are taken as they are");
  const std::uint64_t length = exchange.request().length.value_or(http::kUploadPieceBytes);
  TRY(hold_more(inside.held, kPieceCopies * std::min<std::uint64_t>(length, http::kUploadPieceBytes)));
  if (!http::lists_value(*type, "application/octet-stream")) {
    return write_form(exchange, inside, TRY(boundary_of(*type)));
  }
  const std::string given = exchange.query("path");
  if (given.empty()) return fail(Error::invalid("path is missing"));
  const std::string path = TRY(path_of_client(*inside.agent, inside.user, given));
  http::BodyBytes body(exchange);
  const auto pieces = [&body](std::size_t most) { return body.next(most); };
  if (auto refused = TRY(write_one(inside, path, pieces))) return std::move(*refused);
  return json(200, Value(Value::List{written_object(path)}));
}

constexpr std::array kE2bContentRoutes = {
    Route{"GET", "/health", BodyType::kNone, with_sandbox<report_health>, shows_token},
    Route{"GET", "/files", BodyType::kNone, with_sandbox<read_content>, shows_token},
    Route{"POST", "/files", BodyType::kStream, with_sandbox<write_content>, shows_token},
};

}  // namespace

}  // namespace hutch::server::e2b

namespace hutch::server::http {

std::span<const Route> e2b_content_routes() { return e2b::kE2bContentRoutes; }

}  // namespace hutch::server::http
