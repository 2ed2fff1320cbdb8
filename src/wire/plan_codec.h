// The part of a SandboxPlan that a guest needs, as bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.h"
#include "wire/codec.h"

namespace hutch::wire {

// Not written: limits, environment, cwd, project and notes, which the host alone uses.
inline constexpr std::size_t kStepBytesMin = 1 + 4 + 4 + 1 + 1 + 8 + 8 + 4 + 8 + 4;
void write_step(Writer& out, const plan::MountStep& step);
plan::MountStep read_step(Reader& in);
void write_ports(Writer& out, const std::vector<std::uint16_t>& ports);
std::vector<std::uint16_t> read_ports(Reader& in);
void write_captures(Writer& out, const std::vector<plan::UdpCapture>& captures);
std::vector<plan::UdpCapture> read_captures(Reader& in);
void write_filter(Writer& out, const plan::bpf::Program& filter);
plan::bpf::Program read_filter(Reader& in);
void write_plan(Writer& out, const plan::SandboxPlan& plan);
plan::SandboxPlan read_plan(Reader& in);

}  // namespace hutch::wire
