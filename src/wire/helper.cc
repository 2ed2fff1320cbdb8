// The messages of hutch-helper as bytes.
#include "wire/helper.h"

#include "wire/codec.h"
#include "wire/frame_codec.h"
#include "wire/plan_codec.h"

namespace hutch::wire {

namespace {

void write_helper(Writer& out, const HelperStart& start) {
  out.u32(start.version);
  out.u32(start.user);
  out.u8(static_cast<std::uint8_t>(start.service));
  out.u8(static_cast<std::uint8_t>(start.network));
  write_ports(out, start.host_ports);
  write_captures(out, start.udp);
  for (const std::uint64_t number : {start.tmp_bytes, start.memory_bytes, start.pids, start.cpu_millis}) {
    out.u64(number);
  }
  for (const std::string* text : {&start.authority, &start.bundle, &start.java_store}) out.text(*text);
  write_filter(out, start.seccomp);
}

void write_helper(Writer&, const HelperCount&) {}

void write_helper(Writer& out, const HelperMakeUser& asked) {
  out.u32(asked.version);
  out.text(asked.agent);
}

void write_helper(Writer& out, const HelperStarted& started) { out.u32(started.pid); }

void write_helper(Writer& out, const HelperCounted& counted) {
  out.u64(counted.killed_for_memory);
  out.u64(counted.pids_refused);
}

void write_helper(Writer& out, const HelperRefused& refused) { write_error(out, refused.error); }

void write_helper(Writer& out, const HelperMade& made) { out.u32(made.user); }

void read_helper(Reader& in, HelperStart& start) {
  start.version = in.u32();
  start.user = in.u32();
  start.service = in.choice(Service::kManyCommands);
  start.network = in.choice(plan::NetworkKind::kGateway);
  start.host_ports = read_ports(in);
  start.udp = read_captures(in);
  for (std::uint64_t* number : {&start.tmp_bytes, &start.memory_bytes, &start.pids, &start.cpu_millis}) {
    *number = in.u64();
  }
  for (std::string* text : {&start.authority, &start.bundle, &start.java_store}) *text = in.text();
  start.seccomp = read_filter(in);
}

void read_helper(Reader&, HelperCount&) {}

void read_helper(Reader& in, HelperMakeUser& asked) {
  asked.version = in.u32();
  asked.agent = in.text();
}

void read_helper(Reader& in, HelperStarted& started) { started.pid = in.u32(); }

void read_helper(Reader& in, HelperCounted& counted) {
  counted.killed_for_memory = in.u64();
  counted.pids_refused = in.u64();
}

void read_helper(Reader& in, HelperRefused& refused) { read_error(in, refused.error); }

void read_helper(Reader& in, HelperMade& made) { made.user = in.u32(); }

}  // namespace

std::string encode(const ToHelper& message) {
  return encode_frame(message, [](Writer& out, const auto& one) { write_helper(out, one); });
}

std::string encode(const FromHelper& message) {
  return encode_frame(message, [](Writer& out, const auto& one) { write_helper(out, one); });
}

Result<ToHelper> decode_to_helper(const FrameHeader& header, std::string_view body) {
  return decode_frame<ToHelper>(header, body, [](Reader& in, auto& one) { read_helper(in, one); });
}

Result<FromHelper> decode_from_helper(const FrameHeader& header, std::string_view body) {
  return decode_frame<FromHelper>(header, body, [](Reader& in, auto& one) { read_helper(in, one); });
}

}  // namespace hutch::wire
