// Files of a sandbox, asked of the guest's file server.
#include "sandbox/run/files.h"

#include <poll.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "base/text.h"
#include "sys/channel.h"
#include "sys/io.h"

namespace hutch::sandbox {

namespace {

// Whether an answer is one to its request. Sizes were checked by its decoder.
Status check_reply(const wire::FileRequest& request, const wire::FileReply& reply);
bool is_below(std::string_view path);
bool is_file(const wire::FileRequest& request);
template <class Reply>
const Reply* as(const wire::FileReply& reply) {
  return std::get_if<Reply>(&reply);
}

}  // namespace

Result<wire::FileReply> Files::ask(const wire::FileRequest& request) {
  const std::lock_guard lock(mutex_);
  return ask_locked(request);
}

Result<UniqueFd> Files::ask_for_file(const wire::AddToTree& file) {
  const std::lock_guard lock(mutex_);
  TRY(ask_locked(file));
  return std::move(file_);
}

Result<wire::FileReply> Files::ask_locked(const wire::FileRequest& request) {
  file_.reset();
  if (dead_) return fail({Code::kSystem, 0, "the file server of the sandbox is gone"});
  // Before anything is sent: the server ends at a request that breaks a rule, and the caller hears of it instead.
  const std::string bytes = encode(request);
  const auto header = TRY(wire::decode_header(std::string_view(bytes).substr(0, wire::kFrameHeaderBytes)));
  TRY(wire::decode_file_request(header, std::string_view(bytes).substr(wire::kFrameHeaderBytes)));
  auto reply = exchange(request, bytes);
  if (!reply) {
    dead_ = true;
    return fail(std::move(reply).error().with_context("the sandbox's files"));
  }
  if (const auto* failed = std::get_if<wire::FileFailed>(&*reply)) {
    Error error = failed->error;
    error.message = printable(error.message, 1024);
    return fail(std::move(error));
  }
  return reply;
}

bool Files::is_dead() const {
  const std::lock_guard lock(mutex_);
  return dead_;
}

Result<wire::FileReply> Files::exchange(const wire::FileRequest& request, std::string_view bytes) {
  const auto deadline = Clock::now() + answer_max_;
  // The server's reason why it cannot serve comes unasked, and then its end: that is the answer.
  Status sent = send(bytes, deadline);
  if (!sent && sent.error().code == Code::kTimeout) return fail(std::move(sent).error());
  const wire::Frame frame = TRY(receive(deadline));
  // Nothing travels along with an answer but a file that was asked for, and nothing follows it.
  std::vector<UniqueFd> descriptors = server_.take_descriptors();
  wire::FileReply reply = TRY(wire::decode_file_reply(frame.header, frame.body));
  const bool gives = is_file(request) && as<wire::FileFailed>(reply) == nullptr;
  if (descriptors.size() != (gives ? 1U : 0U)) return fail(Error::invalid("an answer with other descriptors"));
  if (gives) file_ = std::move(descriptors.front());
  TRY(check_reply(request, reply));
  if (TRY(server_.take_buffered())) return fail(Error::invalid("two answers to one request"));
  return reply;
}

Status Files::send(std::string_view bytes, Clock::time_point deadline) {
  for (;;) {
    bytes.remove_prefix(TRY(sys::send_now(server_.fd(), bytes)));
    if (bytes.empty()) return {};
    TRY(wait(POLLOUT, deadline));
  }
}

Result<wire::Frame> Files::receive(Clock::time_point deadline) {
  for (;;) {
    TRY(wait(POLLIN, deadline));
    auto polled = TRY(server_.receive_ready());
    if (polled.frame) return std::move(*polled.frame);
    if (polled.closed) return fail({Code::kSystem, 0, "the file server has ended"});
  }
}

Status Files::wait(short events, Clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) break;
    pollfd server{server_.fd(), events, 0};
    if (TRY(sys::poll({&server, 1}, left)) > 0) return {};
  }
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(answer_max_).count();
  return fail({Code::kTimeout, 0, cat({"no answer within ", std::to_string(seconds), " s"})});
}

namespace {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};

bool is_file(const wire::FileRequest& request) {
  const auto* entry = std::get_if<wire::AddToTree>(&request);
  return entry != nullptr && entry->kind == wire::FileKind::kRegular;
}

bool are_entries(const wire::FileReply& reply, std::uint32_t entries_max) {
  const auto* entries = as<wire::FileEntries>(reply);
  if (entries == nullptr || entries->entries.size() > entries_max) return false;
  return std::ranges::all_of(entries->entries, [](const wire::FileEntry& entry) { return is_below(entry.path); });
}

bool is_moved(const wire::FileReply& reply, const wire::MoveFile& request) {
  const auto* moved = as<wire::FileMoved>(reply);
  if (moved == nullptr || moved->destination.root != request.destination.root) return false;
  return moved->destination.path == request.destination.path || is_below(moved->destination.path) ||
         moved->destination.path.starts_with(cat({request.destination.path, "/"}));
}

Status check_reply(const wire::FileRequest& request, const wire::FileReply& reply) {
  if (as<wire::FileFailed>(reply) != nullptr) return {};
  const bool fits =
      std::visit(Overloaded{
                     [&](const wire::StatFile&) { return as<wire::FileStat>(reply) != nullptr; },
                     [&](const wire::ReadFile& one) {
                       const auto* content = as<wire::FileContent>(reply);
                       return content != nullptr && content->bytes.size() <= one.bytes_max;
                     },
                     [&](const wire::WriteFile&) { return as<wire::FileWritten>(reply) != nullptr; },
                     [&](const wire::ListDirectory& one) { return are_entries(reply, one.entries_max); },
                     [&](const wire::FindFiles& one) { return are_entries(reply, one.entries_max); },
                     [&](const wire::RemoveFile&) { return as<wire::FileRemoved>(reply) != nullptr; },
                     [&](const wire::MoveFile& one) { return is_moved(reply, one); },
                     [&](const wire::MakeDirectory&) { return as<wire::FileDone>(reply) != nullptr; },
                     [&](const wire::BeginUpload&) { return as<wire::FileDone>(reply) != nullptr; },
                     [&](const wire::AppendUpload&) { return as<wire::FileDone>(reply) != nullptr; },
                     [&](const wire::BeginTree&) { return as<wire::FileDone>(reply) != nullptr; },
                     [&](const wire::AddToTree&) { return as<wire::FileDone>(reply) != nullptr; },
                     [&](const wire::EndTree&) { return as<wire::FileDone>(reply) != nullptr; },
                     [&](const wire::EndUpload& one) {
                       const bool put = one.then == wire::EndUpload::Then::kPut;
                       return (put ? as<wire::FileWritten>(reply) != nullptr : as<wire::FileDone>(reply) != nullptr);
                     },
                 },
                 request);
  if (fits) return {};
  return fail(Error::invalid("an answer to another request"));
}

// Relative, and by names alone.
bool is_below(std::string_view path) {
  if (path.empty() || path.starts_with('/') || path.ends_with('/')) return false;
  return std::ranges::all_of(split(path, '/'),
                             [](std::string_view name) { return !name.empty() && name != "." && name != ".."; });
}

}  // namespace

}  // namespace hutch::sandbox
