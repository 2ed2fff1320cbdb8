// The part of a SandboxPlan that a guest needs, as bytes.
#include "wire/plan_codec.h"

namespace hutch::wire {

namespace {

constexpr std::size_t kProcessLimitBytes = 4 + 8 + 8;
constexpr std::size_t kUserCountBytesMin = 4 + 8;

void write_udp(Writer& out, const plan::UdpCapture& capture) {
  out.text(capture.host);
  out.u16(capture.port);
  out.u16(capture.gateway_port);
  out.u32(static_cast<std::uint32_t>(capture.addresses.size()));
  for (const IpAddress& address : capture.addresses) {
    out.u8(static_cast<std::uint8_t>(address.family));
    for (const std::uint8_t byte : address.bytes) out.u8(byte);
  }
}

plan::UdpCapture read_udp(Reader& in) {
  plan::UdpCapture capture;
  capture.host = in.text();
  capture.port = in.u16();
  capture.gateway_port = in.u16();
  const std::size_t addresses = in.count(1 + sizeof(IpAddress::bytes));
  for (std::size_t i = 0; i < addresses; ++i) {
    IpAddress& address = capture.addresses.emplace_back();
    address.family = in.choice(IpFamily::kV6);
    for (std::uint8_t& byte : address.bytes) byte = in.u8();
  }
  return capture;
}

void write_quotas(Writer& out, const plan::SandboxPlan& plan) {
  out.u32(static_cast<std::uint32_t>(plan.process_limits.size()));
  for (const plan::ProcessLimit& limit : plan.process_limits) {
    out.u32(static_cast<std::uint32_t>(limit.resource));
    out.u64(limit.soft);
    out.u64(limit.hard);
  }
  out.u32(static_cast<std::uint32_t>(plan.user_counts.size()));
  for (const plan::UserCount& count : plan.user_counts) {
    out.text(count.name);
    out.u64(count.most);
  }
}

void read_quotas(Reader& in, plan::SandboxPlan& plan) {
  const std::size_t limits = in.count(kProcessLimitBytes);
  for (std::size_t i = 0; i < limits; ++i) {
    plan::ProcessLimit& limit = plan.process_limits.emplace_back();
    limit.resource = static_cast<int>(in.u32());
    limit.soft = in.u64();
    limit.hard = in.u64();
  }
  const std::size_t counts = in.count(kUserCountBytesMin);
  for (std::size_t i = 0; i < counts; ++i) {
    plan::UserCount& count = plan.user_counts.emplace_back();
    count.name = in.text();
    count.most = in.u64();
  }
}

constexpr std::size_t kUdpBytesMin = 4 + 2 + 2 + 4;

}  // namespace

void write_step(Writer& out, const plan::MountStep& step) {
  out.u8(static_cast<std::uint8_t>(step.kind));
  out.text(step.target);
  out.text(step.source);
  out.u8(static_cast<std::uint8_t>(step.access));
  out.u8(static_cast<std::uint8_t>(step.make));
  out.u64(step.identity.device);
  out.u64(step.identity.inode);
  out.u32(step.mode);
  out.u64(step.size_bytes);
  out.text(step.layer);
}

plan::MountStep read_step(Reader& in) {
  plan::MountStep step;
  step.kind = in.choice(plan::MountKind::kEngineRoot);
  step.target = in.text();
  step.source = in.text();
  step.access = in.choice(plan::Access::kReadWrite);
  step.make = in.choice(plan::MakeTarget::kFile);
  step.identity.device = in.u64();
  step.identity.inode = in.u64();
  step.mode = in.u32();
  step.size_bytes = in.u64();
  step.layer = in.text();
  return step;
}

void write_ports(Writer& out, const std::vector<std::uint16_t>& ports) {
  out.u32(static_cast<std::uint32_t>(ports.size()));
  for (const std::uint16_t port : ports) out.u16(port);
}

std::vector<std::uint16_t> read_ports(Reader& in) {
  std::vector<std::uint16_t> ports;
  const std::size_t count = in.count(sizeof(std::uint16_t));
  for (std::size_t i = 0; i < count; ++i) ports.push_back(in.u16());
  return ports;
}

void write_captures(Writer& out, const std::vector<plan::UdpCapture>& captures) {
  out.u32(static_cast<std::uint32_t>(captures.size()));
  for (const plan::UdpCapture& capture : captures) write_udp(out, capture);
}

std::vector<plan::UdpCapture> read_captures(Reader& in) {
  std::vector<plan::UdpCapture> captures;
  const std::size_t count = in.count(kUdpBytesMin);
  for (std::size_t i = 0; i < count; ++i) captures.push_back(read_udp(in));
  return captures;
}

void write_filter(Writer& out, const plan::bpf::Program& filter) {
  out.u32(static_cast<std::uint32_t>(filter.size()));
  for (const plan::bpf::Instruction& instruction : filter) {
    out.u16(instruction.code);
    out.u8(instruction.jump_true);
    out.u8(instruction.jump_false);
    out.u32(instruction.k);
  }
}

plan::bpf::Program read_filter(Reader& in) {
  plan::bpf::Program filter;
  const std::size_t instructions = in.count(sizeof(plan::bpf::Instruction));
  filter.reserve(instructions);
  for (std::size_t i = 0; i < instructions; ++i) {
    plan::bpf::Instruction instruction;
    instruction.code = in.u16();
    instruction.jump_true = in.u8();
    instruction.jump_false = in.u8();
    instruction.k = in.u32();
    filter.push_back(instruction);
  }
  return filter;
}

void write_plan(Writer& out, const plan::SandboxPlan& plan) {
  out.u32(plan.uid);
  out.u32(plan.gid);
  out.u32(static_cast<std::uint32_t>(plan.groups.size()));
  for (const std::uint32_t group : plan.groups) out.u32(group);
  out.u8(static_cast<std::uint8_t>(plan.rights));
  out.u8(static_cast<std::uint8_t>(plan.network));
  write_ports(out, plan.host_ports);
  write_captures(out, plan.udp);
  out.text(plan.hostname);
  out.u32(static_cast<std::uint32_t>(plan.mounts.size()));
  for (const plan::MountStep& step : plan.mounts) write_step(out, step);
  out.texts(plan.read_only_proc);
  out.texts(plan.hidden_proc);
  out.u8(static_cast<std::uint8_t>(plan.supervisor));
  out.u8(static_cast<std::uint8_t>(plan.questions));
  out.texts(plan.supervised);
  out.texts(plan.landlock.readable);
  out.texts(plan.landlock.writable);
  write_filter(out, plan.seccomp);
  write_quotas(out, plan);
}

plan::SandboxPlan read_plan(Reader& in) {
  plan::SandboxPlan plan;
  plan.uid = in.u32();
  plan.gid = in.u32();
  const std::size_t groups = in.count(sizeof(std::uint32_t));
  for (std::size_t i = 0; i < groups; ++i) plan.groups.push_back(in.u32());
  plan.rights = in.choice(plan::Rights::kFileServer);
  plan.network = in.choice(plan::NetworkKind::kGateway);
  plan.host_ports = read_ports(in);
  plan.udp = read_captures(in);
  plan.hostname = in.text();
  const std::size_t steps = in.count(kStepBytesMin);
  plan.mounts.reserve(steps);
  for (std::size_t i = 0; i < steps; ++i) plan.mounts.push_back(read_step(in));
  plan.read_only_proc = in.texts();
  plan.hidden_proc = in.texts();
  plan.supervisor = in.choice(plan::Supervisor::kBeside);
  plan.questions = in.choice(plan::FileQuestions::kAll);
  plan.supervised = in.texts();
  plan.landlock.readable = in.texts();
  plan.landlock.writable = in.texts();
  plan.seccomp = read_filter(in);
  read_quotas(in, plan);
  return plan;
}

}  // namespace hutch::wire
