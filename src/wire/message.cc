// The messages between host and guest as bytes.
#include "wire/message.h"

#include "base/limits.h"
#include "base/text.h"
#include "wire/codec.h"
#include "wire/frame_codec.h"
#include "wire/plan_codec.h"

namespace hutch::wire {

namespace {

void write_message(Writer& out, const Start& message) {
  out.u32(message.version);
  out.u8(static_cast<std::uint8_t>(message.isolation));
  out.u8(static_cast<std::uint8_t>(message.service));
  out.u32(static_cast<std::uint32_t>(message.landlock_abi));
  write_plan(out, message.plan);
}

void write_message(Writer& out, const Exec& message) {
  out.u32(message.command);
  out.texts(message.arguments);
  out.texts(message.environment);
  out.text(message.cwd);
  out.u8(static_cast<std::uint8_t>(message.terminal));
  out.u8(message.streams);
  out.u16(message.rows);
  out.u16(message.columns);
  out.text(message.modes);
  out.u64(message.processes_max);
  out.u64(message.address_space_max);
  out.u16(message.creation_mask);
}

void write_message(Writer& out, const Signal& message) {
  out.u32(static_cast<std::uint32_t>(message.number));
  out.u8(static_cast<std::uint8_t>(message.target));
  out.u32(message.command);
}

void write_message(Writer& out, const MakeSockets& message) { out.u8(message.count); }
void write_message(Writer&, const ServeFiles&) {}
void write_message(Writer&, const Mapped&) {}

void write_message(Writer&, const Unmapped&) {}

void write_message(Writer& out, const Spawned& message) { out.u32(message.pid); }
void write_message(Writer&, const Ready&) {}
void write_message(Writer& out, const Failed& message) { write_error(out, message.error); }
void write_message(Writer& out, const Started& message) {
  out.u32(message.command);
  out.u32(message.pid);
}
void write_message(Writer& out, const NotExecuted& message) {
  out.u32(message.command);
  out.u32(static_cast<std::uint32_t>(message.error));
  out.text(message.path);
}
void write_message(Writer& out, const NotStarted& message) {
  out.u32(message.command);
  write_error(out, message.error);
}
void write_message(Writer& out, const Stopped& message) { out.u32(message.command); }
void write_message(Writer& out, const Exited& message) {
  out.u32(message.command);
  out.u32(static_cast<std::uint32_t>(message.status));
}
void write_message(Writer& out, const Refused& message) {
  out.u8(static_cast<std::uint8_t>(message.call));
  out.u32(message.pid);
  out.text(message.path);
  out.text(message.rule);
  out.u8(static_cast<std::uint8_t>(message.was));
  out.text(message.before);
}

void write_message(Writer&, const Supervise&) {}

void write_message(Writer& out, const SocketAsked& message) {
  out.u64(message.id);
  out.u32(message.pid);
  out.text(message.path);
  out.u32(static_cast<std::uint32_t>(message.error));
}

void write_message(Writer& out, const SocketAnswered& message) {
  out.u64(message.id);
  out.u32(static_cast<std::uint32_t>(message.error));
}

void write_identity(Writer& out, const plan::RepositoryIdentity& identity) {
  out.u64(identity.device);
  out.u64(identity.inode);
  out.u64(static_cast<std::uint64_t>(identity.born_ns));
}

void write_names(Writer& out, const plan::GuardedNames& names) {
  out.u8(static_cast<std::uint8_t>(names.list));
  out.texts(names.lifted);
  out.texts(names.own);
  out.texts(names.allowed);
  out.texts(names.places.told);
  out.text(names.places.home);
  out.u32(static_cast<std::uint32_t>(names.places.linked.size()));
  for (const plan::LinkedFile& file : names.places.linked) {
    out.u64(file.device);
    out.u64(file.inode);
    out.text(file.path);
  }
  out.texts(names.configs);
  out.u32(static_cast<std::uint32_t>(names.made.size()));
  for (const plan::RepositoryIdentity& made : names.made) write_identity(out, made);
  out.texts(names.worked);
  out.texts(names.kept);
  out.u32(static_cast<std::uint32_t>(names.rules.size()));
  for (const plan::NameRule& name : names.rules) {
    out.text(name.pattern);
    out.text(name.rule);
    out.text(name.except);
    out.texts(name.lifted);
    out.u8(static_cast<std::uint8_t>(name.asking));
  }
}

void write_message(Writer& out, const Names& message) {
  write_names(out, message.names);
  out.texts(message.hidden);
}

void write_message(Writer& out, const AccessRules& message) {
  write_names(out, message.names);
  out.u8(static_cast<std::uint8_t>(message.questions));
  out.texts(message.hidden);
  out.u32(static_cast<std::uint32_t>(message.supervised.size()));
  for (const SupervisedMount& mount : message.supervised) {
    out.text(mount.target);
    out.u64(mount.identity.device);
    out.u64(mount.identity.inode);
    out.text(mount.source);
    out.u8(static_cast<std::uint8_t>(mount.descriptor));
  }
}

void write_message(Writer& out, const FileAsked& message) {
  out.u64(message.id);
  out.u32(message.pid);
  out.u8(static_cast<std::uint8_t>(message.wanted));
  out.text(message.path);
}

void write_message(Writer& out, const FileAnswered& message) {
  out.u64(message.id);
  out.u8(static_cast<std::uint8_t>(message.answer));
  out.text(message.root);
  out.text(message.only);
  out.texts(message.closed);
}

void write_message(Writer& out, const FileRevoked& message) { out.text(message.path); }

void write_steps(Writer& out, const std::vector<plan::MountStep>& steps) {
  out.u32(static_cast<std::uint32_t>(steps.size()));
  for (const plan::MountStep& step : steps) write_step(out, step);
}

void write_numbers(Writer& out, const std::vector<std::uint64_t>& numbers) {
  out.u32(static_cast<std::uint32_t>(numbers.size()));
  for (const std::uint64_t number : numbers) out.u64(number);
}

void write_message(Writer& out, const Widen& message) {
  out.u8(static_cast<std::uint8_t>(message.action));
  out.text(message.target);
  out.text(message.at);
  write_steps(out, message.steps);
  out.texts(message.own);
}

void write_message(Writer& out, const Cover& message) {
  out.u32(static_cast<std::uint32_t>(message.places.size()));
  for (const auto& steps : message.places) write_steps(out, steps);
}

void write_message(Writer& out, const Uncover& message) {
  write_numbers(out, message.mounts);
  out.texts(message.own);
}

void write_message(Writer& out, const Covers& message) {
  write_numbers(out, message.mounts);
  out.u8(static_cast<std::uint8_t>(message.change));
}

void write_message(Writer& out, const Covered& message) {
  out.u32(static_cast<std::uint32_t>(message.places.size()));
  for (const Covered::Place& place : message.places) {
    write_numbers(out, place.mounts);
    out.text(place.error);
  }
}

void write_message(Writer&, const Heeded&) {}
void write_message(Writer&, const Changes&) {}
void write_message(Writer& out, const Repository& message) {
  out.u8(static_cast<std::uint8_t>(message.event));
  out.text(message.path);
  out.text(message.from);
  write_identity(out, message.identity);
}

void write_message(Writer&, const Heard&) {}
void write_message(Writer&, const Wait&) {}
void write_message(Writer&, const GoOn&) {}
void write_message(Writer&, const Settle&) {}

void write_message(Writer& out, const Widened& message) {
  out.u8(static_cast<std::uint8_t>(message.place));
  out.u64(message.mount);
}

void write_message(Writer& out, const Network& message) {
  out.u32(static_cast<std::uint32_t>(message.sockets.size()));
  for (const NetworkSocket& socket : message.sockets) {
    out.u8(static_cast<std::uint8_t>(socket.role));
    out.u16(socket.port);
  }
  out.text(message.no_capture);
}

void write_message(Writer& out, const FileServer& message) { out.u32(message.pid); }

int read_int(Reader& in) { return static_cast<int>(in.u32()); }

void read_message(Reader& in, Start& message) {
  message.version = in.u32();
  message.isolation = in.choice(Isolation::kBeside);
  message.service = in.choice(Service::kManyCommands);
  message.landlock_abi = read_int(in);
  message.plan = read_plan(in);
}

void read_message(Reader& in, Exec& message) {
  message.command = in.u32();
  message.arguments = in.texts();
  message.environment = in.texts();
  message.cwd = in.text();
  message.terminal = in.choice(TerminalUse::kOwn);
  message.streams = in.u8();
  message.rows = in.u16();
  message.columns = in.u16();
  message.modes = in.text();
  message.processes_max = in.u64();
  message.address_space_max = in.u64();
  message.creation_mask = in.u16();
}

void read_message(Reader& in, Signal& message) {
  message.number = read_int(in);
  message.target = in.choice(SignalTarget::kEverything);
  message.command = in.u32();
}

void read_message(Reader& in, MakeSockets& message) { message.count = in.u8(); }
void read_message(Reader&, ServeFiles&) {}
void read_message(Reader&, Mapped&) {}

void read_message(Reader&, Unmapped&) {}

void read_message(Reader& in, Spawned& message) { message.pid = in.u32(); }
void read_message(Reader&, Ready&) {}
// What a guest says is shown on terminals.
void read_guest_error(Reader& in, Error& error) {
  constexpr std::size_t kShownBytesMax = 4096;
  read_error(in, error);
  error.message = printable(error.message, kShownBytesMax);
}

void read_message(Reader& in, Failed& message) { read_guest_error(in, message.error); }
void read_message(Reader& in, Started& message) {
  message.command = in.u32();
  message.pid = in.u32();
}
void read_message(Reader& in, NotExecuted& message) {
  message.command = in.u32();
  message.error = read_int(in);
  message.path = in.text();
}
void read_message(Reader& in, NotStarted& message) {
  message.command = in.u32();
  read_guest_error(in, message.error);
}
void read_message(Reader& in, Stopped& message) { message.command = in.u32(); }
void read_message(Reader& in, Exited& message) {
  message.command = in.u32();
  message.status = read_int(in);
}
void read_message(Reader& in, Refused& message) {
  message.call = in.choice(RefusedCall::kSetAside);
  message.pid = in.u32();
  message.path = in.text();
  message.rule = in.text();
  message.was = in.choice(Refused::Before::kText);
  message.before = in.text();
}

void read_message(Reader&, Supervise&) {}

void read_message(Reader& in, SocketAsked& message) {
  message.id = in.u64();
  message.pid = in.u32();
  message.path = in.text();
  message.error = read_int(in);
}

void read_message(Reader& in, SocketAnswered& message) {
  message.id = in.u64();
  message.error = read_int(in);
}

plan::RepositoryIdentity read_identity(Reader& in) {
  plan::RepositoryIdentity identity;
  identity.device = in.u64();
  identity.inode = in.u64();
  identity.born_ns = static_cast<std::int64_t>(in.u64());
  return identity;
}

void read_names(Reader& in, plan::GuardedNames& names) {
  names.list = in.choice(plan::GuardedNames::List::kObeyed);
  names.lifted = in.texts();
  names.own = in.texts();
  names.allowed = in.texts();
  names.places.told = in.texts();
  names.places.home = in.text();
  static constexpr std::size_t kLinkedBytesMin = 8 + 8 + 4;
  const std::size_t linked = in.count(kLinkedBytesMin);
  for (std::size_t i = 0; i < linked; ++i) {
    plan::LinkedFile& file = names.places.linked.emplace_back();
    file.device = in.u64();
    file.inode = in.u64();
    file.path = in.text();
  }
  names.configs = in.texts();
  static constexpr std::size_t kIdentityBytes = 8 + 8 + 8;
  const std::size_t made = in.count(kIdentityBytes);
  for (std::size_t i = 0; i < made; ++i) names.made.push_back(read_identity(in));
  names.worked = in.texts();
  names.kept = in.texts();
  static constexpr std::size_t kNameBytesMin = 4 + 4 + 4 + 4 + 1;
  const std::size_t count = in.count(kNameBytesMin);
  for (std::size_t i = 0; i < count; ++i) {
    plan::NameRule& name = names.rules.emplace_back();
    name.pattern = in.text();
    name.rule = in.text();
    name.except = in.text();
    name.lifted = in.texts();
    name.asking = in.choice(plan::NameRule::Asking::kMayBe);
  }
}

void read_message(Reader& in, Names& message) {
  read_names(in, message.names);
  message.hidden = in.texts();
}

void read_message(Reader& in, AccessRules& message) {
  read_names(in, message.names);
  message.questions = in.choice(plan::FileQuestions::kAll);
  message.hidden = in.texts();
  static constexpr std::size_t kMountBytesMin = 4 + 8 + 8 + 4 + 1;
  const std::size_t mounts = in.count(kMountBytesMin);
  for (std::size_t i = 0; i < mounts; ++i) {
    SupervisedMount& mount = message.supervised.emplace_back();
    mount.target = in.text();
    mount.identity.device = in.u64();
    mount.identity.inode = in.u64();
    mount.source = in.text();
    mount.descriptor = in.choice(SupervisedMount::Descriptor::kHeld);
  }
}

void read_message(Reader& in, FileAsked& message) {
  message.id = in.u64();
  message.pid = in.u32();
  message.wanted = in.choice(FileAsked::Wanted::kChange);
  message.path = in.text();
}

void read_message(Reader& in, FileAnswered& message) {
  message.id = in.u64();
  message.answer = in.choice(FileAnswered::Answer::kWritable);
  message.root = in.text();
  message.only = in.text();
  message.closed = in.texts();
}

void read_message(Reader& in, FileRevoked& message) { message.path = in.text(); }

std::vector<plan::MountStep> read_steps(Reader& in) {
  std::vector<plan::MountStep> steps;
  const std::size_t count = in.count(kStepBytesMin);
  for (std::size_t i = 0; i < count; ++i) steps.push_back(read_step(in));
  return steps;
}

std::vector<std::uint64_t> read_numbers(Reader& in) {
  std::vector<std::uint64_t> numbers;
  const std::size_t count = in.count(sizeof(std::uint64_t));
  for (std::size_t i = 0; i < count; ++i) numbers.push_back(in.u64());
  return numbers;
}

void read_message(Reader& in, Widen& message) {
  message.action = in.choice(Widen::Action::kHandRoot);
  message.target = in.text();
  message.at = in.text();
  message.steps = read_steps(in);
  message.own = in.texts();
}

void read_message(Reader& in, Cover& message) {
  const std::size_t count = in.count(4);
  for (std::size_t i = 0; i < count; ++i) message.places.push_back(read_steps(in));
}

void read_message(Reader& in, Uncover& message) {
  message.mounts = read_numbers(in);
  message.own = in.texts();
}

void read_message(Reader& in, Covers& message) {
  message.mounts = read_numbers(in);
  message.change = in.choice(Covers::Change::kBegins);
}

void read_message(Reader& in, Covered& message) {
  const std::size_t count = in.count(4 + 4);
  for (std::size_t i = 0; i < count; ++i) {
    Covered::Place& place = message.places.emplace_back();
    place.mounts = read_numbers(in);
    place.error = in.text();
  }
}

void read_message(Reader&, Heeded&) {}
void read_message(Reader&, Changes&) {}
void read_message(Reader& in, Repository& message) {
  message.event = in.choice(Repository::Event::kEnds);
  message.path = in.text();
  message.from = in.text();
  message.identity = read_identity(in);
}

void read_message(Reader&, Heard&) {}
void read_message(Reader&, Wait&) {}
void read_message(Reader&, GoOn&) {}
void read_message(Reader&, Settle&) {}

void read_message(Reader& in, Widened& message) {
  message.place = in.choice(Widened::Place::kMade);
  message.mount = in.u64();
}

void read_message(Reader& in, Network& message) {
  const std::size_t count = in.count(1 + sizeof(std::uint16_t));
  for (std::size_t i = 0; i < count; ++i) {
    NetworkSocket socket;
    socket.role = in.choice(SocketRole::kDial);
    socket.port = in.u16();
    message.sockets.push_back(socket);
  }
  message.no_capture = in.text();
}

void read_message(Reader& in, FileServer& message) { message.pid = in.u32(); }

// As one object: the overloads above, for whichever alternative it is.
constexpr auto kWriteMessage = [](Writer& out, const auto& message) { write_message(out, message); };
constexpr auto kReadMessage = [](Reader& in, auto& message) { read_message(in, message); };

}  // namespace

std::string encode_header(const FrameHeader& header) {
  Writer out;
  out.u32(header.size);
  out.u16(header.type);
  out.u16(header.channel);
  return out.bytes();
}

Result<FrameHeader> decode_header(std::string_view bytes) {
  Reader in(bytes);
  FrameHeader header;
  header.size = in.u32();
  header.type = in.u16();
  header.channel = in.u16();
  TRY(in.finish("frame header"));
  if (header.size > limits::kFrameBytesMax) return fail(Error::invalid("frame too large"));
  if (header.channel != 0) return fail(Error::invalid("frame on an unknown channel"));
  return header;
}

std::string encode(const ToGuest& message) { return encode_frame(message, kWriteMessage); }
std::string encode(const ToHost& message) { return encode_frame(message, kWriteMessage); }

Result<ToGuest> decode_to_guest(const FrameHeader& header, std::string_view body) {
  return decode_frame<ToGuest>(header, body, kReadMessage);
}

Result<ToHost> decode_to_host(const FrameHeader& header, std::string_view body) {
  return decode_frame<ToHost>(header, body, kReadMessage);
}

}  // namespace hutch::wire
