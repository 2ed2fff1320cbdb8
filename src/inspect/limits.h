// Every bound that the inspector sets itself.
#pragma once

#include <chrono>
#include <cstddef>

namespace hutch::inspect::limits {

// Connections at once, a thread each. One more is refused. Each holds half a MiB for itself at most: its buffers, what
// TLS has, a head, the smallest windows of HTTP/2.
inline constexpr std::size_t kConnectionsMax = 640;

// What all of them together hold besides: heads of HTTP/2, a request beyond which is answered 503; and windows for
// bodies of HTTP/2 that are wider than the smallest, which a connection is given where there is enough.
inline constexpr std::size_t kHeadsBytesMax = 32 << 20;
inline constexpr std::size_t kWindowsBytesMax = 64 << 20;

// Refusals of one connection that the gateway is told of; the client is told of all.
inline constexpr std::size_t kReportsMax = 100;

// A request's or response's head, and the trailers; as a whole, and the number of its fields.
inline constexpr std::size_t kHeadBytesMax = 64 << 10;
inline constexpr std::size_t kHeadersMax = 128;
inline constexpr std::size_t kMethodBytesMax = 32;

// What is held of each direction of a connection.
inline constexpr std::size_t kBufferBytes = 64 << 10;
inline constexpr std::size_t kReadBytes = 16 << 10;  // as much as a TLS record holds

// HTTP/2: what the client may have under way at once, and what may wait here of the bodies of a stream and of all.
inline constexpr unsigned kStreamsMax = 128;
// And what is held of requests besides, that the client has given up before the server took any of it.
inline constexpr std::size_t kGivenUpMax = 32;
inline constexpr unsigned kStreamWindowBytes = 512 << 10;
inline constexpr int kConnectionWindowBytes = 1 << 20;
inline constexpr int kSmallestWindowBytes = 65'535;  // RFC 9113, 6.9.2

inline constexpr auto kHandshakeTime = std::chrono::seconds(10);
inline constexpr auto kHeadTime = std::chrono::seconds(30);
inline constexpr auto kIdleTime = std::chrono::minutes(10);

// After a refusal the client's bytes are still read, so that its kernel does not drop the answer with a reset.
inline constexpr auto kLingerTime = std::chrono::seconds(2);
inline constexpr std::size_t kLingerBytesMax = 1 << 20;

// Certificates. Clocks of sandboxes may be behind.
inline constexpr auto kCertificateBackdate = std::chrono::hours(1);
inline constexpr auto kAuthorityLife = std::chrono::hours(14 * 24);
inline constexpr auto kLeafLife = std::chrono::hours(24);
inline constexpr auto kLeafRenewal = std::chrono::hours(12);  // a cached one is made anew after this
inline constexpr std::size_t kLeavesMax = 1024;
inline constexpr std::size_t kTrustBytesMax = 8 << 20;

}  // namespace hutch::inspect::limits
