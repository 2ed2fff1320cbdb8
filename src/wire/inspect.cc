// The messages between the egress gateway and hutch-inspect as bytes.
#include "wire/inspect.h"

#include <utility>

#include "base/text.h"
#include "wire/codec.h"
#include "wire/frame_codec.h"

namespace hutch::wire {

namespace {

// The least that a rule takes: five counts.
constexpr std::size_t kRuleBytesMin = 20;

void write_pairs(Writer& out, const std::vector<std::pair<std::string, std::string>>& pairs) {
  out.u32(static_cast<std::uint32_t>(pairs.size()));
  for (const auto& [name, value] : pairs) {
    out.text(name);
    out.text(value);
  }
}

std::vector<std::pair<std::string, std::string>> read_pairs(Reader& in) {
  const std::size_t items = in.count(8);
  std::vector<std::pair<std::string, std::string>> pairs;
  pairs.reserve(items);
  for (std::size_t i = 0; i < items; ++i) {
    std::string name = in.text();
    pairs.emplace_back(std::move(name), in.text());
  }
  return pairs;
}

void write_rule(Writer& out, const policy::HttpRule& rule) {
  out.text(rule.host);
  out.texts(rule.methods);
  out.texts(rule.paths);
  write_pairs(out, rule.set_headers);
  out.texts(rule.remove_headers);
}

policy::HttpRule read_rule(Reader& in) {
  policy::HttpRule rule;
  rule.host = in.text();
  rule.methods = in.texts();
  rule.paths = in.texts();
  rule.set_headers = read_pairs(in);
  rule.remove_headers = in.texts();
  return rule;
}

void write_inspect(Writer& out, const InspectStart& message) {
  out.u32(message.version);
  out.texts(message.extra_ca_paths);
  out.u8(message.java_store ? 1 : 0);
  out.text(message.authority);
}

void write_inspect(Writer& out, const Inspect& message) {
  out.u64(message.id);
  out.text(message.host);
  out.u16(message.port);
  out.u8(static_cast<std::uint8_t>(message.form));
  out.u8(message.tls ? 1 : 0);
  out.u32(static_cast<std::uint32_t>(message.rules.size()));
  for (const policy::HttpRule& rule : message.rules) write_rule(out, rule);
  write_pairs(out, message.placeholders);
}

void write_inspect(Writer& out, const InspectEnd& message) { out.u64(message.id); }

void write_inspect(Writer& out, const InspectReady& message) {
  out.text(message.ca_certificate);
  out.text(message.java_store);
  out.text(message.authority);
}

void write_inspect(Writer& out, const InspectFailed& message) { write_error(out, message.error); }

void write_inspect(Writer& out, const InspectRefused& message) {
  out.u64(message.id);
  out.text(message.what);
  out.text(message.why);
}

void write_inspect(Writer& out, const InspectClosed& message) {
  out.u64(message.id);
  out.u64(message.bytes_up);
  out.u64(message.bytes_down);
}

enum class Flag : std::uint8_t { kNo, kYes };

void read_inspect(Reader& in, InspectStart& message) {
  message.version = in.u32();
  message.extra_ca_paths = in.texts();
  message.java_store = in.choice(Flag::kYes) == Flag::kYes;
  message.authority = in.text();
}

void read_inspect(Reader& in, Inspect& message) {
  message.id = in.u64();
  message.host = in.text();
  message.port = in.u16();
  message.form = in.choice(InspectForm::kProxy);
  message.tls = in.choice(Flag::kYes) == Flag::kYes;
  const std::size_t rules = in.count(kRuleBytesMin);
  message.rules.reserve(rules);
  for (std::size_t i = 0; i < rules; ++i) message.rules.push_back(read_rule(in));
  message.placeholders = read_pairs(in);
}

void read_inspect(Reader& in, InspectEnd& message) { message.id = in.u64(); }

void read_inspect(Reader& in, InspectReady& message) {
  message.ca_certificate = in.text();
  message.java_store = in.text();
  message.authority = in.text();
}

void read_inspect(Reader& in, InspectFailed& message) { read_error(in, message.error); }

void read_inspect(Reader& in, InspectRefused& message) {
  message.id = in.u64();
  message.what = in.text();
  message.why = in.text();
}

void read_inspect(Reader& in, InspectClosed& message) {
  message.id = in.u64();
  message.bytes_up = in.u64();
  message.bytes_down = in.u64();
}

// As one object: the overloads above, for whichever alternative it is.
constexpr auto kWriteInspect = [](Writer& out, const auto& message) { write_inspect(out, message); };
constexpr auto kReadInspect = [](Reader& in, auto& message) { read_inspect(in, message); };

}  // namespace

std::string encode(const ToInspector& message) { return encode_frame(message, kWriteInspect); }
std::string encode(const FromInspector& message) { return encode_frame(message, kWriteInspect); }

Result<ToInspector> decode_to_inspector(const FrameHeader& header, std::string_view body) {
  return decode_frame<ToInspector>(header, body, kReadInspect);
}

Result<FromInspector> decode_from_inspector(const FrameHeader& header, std::string_view body) {
  return decode_frame<FromInspector>(header, body, kReadInspect);
}

}  // namespace hutch::wire
