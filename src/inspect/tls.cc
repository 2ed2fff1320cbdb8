// TLS on both ends of a connection.
#include "inspect/tls.h"

#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>

#include <algorithm>
#include <string_view>

#include "base/ip_address.h"
#include "base/text.h"
#include "inspect/limits.h"
#include "inspect/openssl_error.h"

namespace hutch::inspect {

namespace {

// As ALPN writes them: a length before each name (RFC 7301, 3.1).
constexpr std::string_view kHttp2Name = "\x02h2";
constexpr std::string_view kHttp1Name = "\x08http/1.1";

// One opening under way; OpenSSL's callbacks find it by the client's SSL.
struct Opening {
  const wire::Inspect& connection;
  Stream& client;
  Stream& upstream;
  SSL_CTX* upstream_context;
  Deadline deadline;
  bool upstream_done = false;
  Protocol protocol = Protocol::kHttp1;
  std::optional<Refusal> unusable = {};
  std::optional<Refusal> refusal = {};
};

int on_server_name(SSL* ssl, int* alert, void*);
int on_protocols(SSL* ssl, const unsigned char** out, unsigned char* out_size, const unsigned char* in,
                 unsigned in_size, void*);
void open_upstream(Opening& opening, std::string_view protocols);
bool shake_hands(SSL* ssl, int fd, Deadline deadline);
Result<Ssl> upstream_ssl(const Opening& opening, std::string_view protocols);

Opening& opening_of(SSL* ssl) { return *static_cast<Opening*>(SSL_get_app_data(ssl)); }

}  // namespace

void Tls::ContextDeleter::operator()(ssl_ctx_st* context) const { SSL_CTX_free(context); }

Result<std::unique_ptr<Tls>> Tls::make(TrustStore trust, const std::string& authority) {
  std::unique_ptr<Tls> made(new Tls);
  made->authority_ = TRY(authority.empty() ? Authority::make() : Authority::read(authority));
  TRY(made->make_contexts(std::move(trust)));
  return made;
}

Status Tls::make_contexts(TrustStore trust) {
  server_.reset(SSL_CTX_new(TLS_server_method()));
  client_.reset(SSL_CTX_new(TLS_client_method()));
  if (!server_ || !client_) return fail(openssl_error("SSL_CTX_new"));
  for (SSL_CTX* context : {server_.get(), client_.get()}) {
    if (SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1) return fail(openssl_error("minimum version"));
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    // A resumed session would skip the checks of the handshake.
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  }
  if (SSL_CTX_set_num_tickets(server_.get(), 0) != 1) return fail(openssl_error("SSL_CTX_set_num_tickets"));
  SSL_CTX_set_tlsext_servername_callback(server_.get(), on_server_name);
  SSL_CTX_set_alpn_select_cb(server_.get(), on_protocols, nullptr);
  SSL_CTX_set_verify(client_.get(), SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_cert_store(client_.get(), trust.release());
  return {};
}

std::expected<Opened, Tls::Failure> Tls::open(const wire::Inspect& connection, Stream& client, Stream& upstream) const {
  Opening opening{.connection = connection,
                  .client = client,
                  .upstream = upstream,
                  .upstream_context = client_.get(),
                  .deadline = deadline_in(2 * limits::kHandshakeTime)};
  const Result<Certificate> certificate = authority_->certificate_for(connection.host);
  Ssl ssl(SSL_new(server_.get()));
  const bool ready = certificate && ssl && SSL_use_certificate(ssl.get(), certificate->get()) == 1 &&
                     SSL_use_PrivateKey(ssl.get(), authority_->leaf_key()) == 1 &&
                     SSL_set_fd(ssl.get(), client.fd()) == 1 && SSL_set_app_data(ssl.get(), &opening) == 1;
  if (!ready) return std::unexpected(Failure{});
  SSL_set_accept_state(ssl.get());
  const bool shaken = shake_hands(ssl.get(), client.fd(), opening.deadline);
  SSL_set_app_data(ssl.get(), nullptr);
  if (!shaken) return std::unexpected(Failure{std::move(opening.refusal)});
  client.use_tls(std::move(ssl));
  // A client that knows nothing of ALPN speaks HTTP/1.
  if (!opening.upstream_done) open_upstream(opening, kHttp1Name);
  return Opened{opening.protocol, std::move(opening.unusable)};
}

namespace {

// No fronting: what the hello names is the host that the connection was made to. A hello that names none is fine, as
// the server is told the right one.
int on_server_name(SSL* ssl, int* alert, void*) {
  const char* const name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
  if (name == nullptr) return SSL_TLSEXT_ERR_NOACK;
  Opening& opening = opening_of(ssl);
  std::string_view named = name;
  if (named.ends_with('.')) named.remove_suffix(1);
  if (same_name(named, opening.connection.host)) return SSL_TLSEXT_ERR_OK;
  opening.refusal = Refusal{403,
                            "host-mismatch",
                            {},
                            cat({"a TLS hello for ", printable(name, 256)}),
                            cat({"the connection was made to ", opening.connection.host})};
  *alert = SSL_AD_UNRECOGNIZED_NAME;
  return SSL_TLSEXT_ERR_ALERT_FATAL;
}

bool offers(std::string_view list, std::string_view name) {
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t size = 1 + static_cast<unsigned char>(list[at]);
    if (list.substr(at, size) == name) return true;
    at += size;
  }
  return false;
}

int on_protocols(SSL* ssl, const unsigned char** out, unsigned char* out_size, const unsigned char* in,
                 unsigned in_size, void*) {
  Opening& opening = opening_of(ssl);
  const std::string_view list(reinterpret_cast<const char*>(in), in_size);
  const bool http2 = offers(list, kHttp2Name);
  const bool http1 = offers(list, kHttp1Name);
  if (!opening.upstream_done) {
    std::string ours;
    if (http2) ours += kHttp2Name;
    if (http1 || !http2) ours += kHttp1Name;
    open_upstream(opening, ours);
  }
  const bool chosen2 = opening.protocol == Protocol::kHttp2;
  if (chosen2 ? !http2 : !http1) return SSL_TLSEXT_ERR_ALERT_FATAL;
  const std::string_view name = (chosen2 ? kHttp2Name : kHttp1Name).substr(1);
  *out = reinterpret_cast<const unsigned char*>(name.data());
  *out_size = static_cast<unsigned char>(name.size());
  return SSL_TLSEXT_ERR_OK;
}

// What went wrong is for the client to read, so it is kept and the client's handshake goes on.
void open_upstream(Opening& opening, std::string_view protocols) {
  opening.upstream_done = true;
  Result<Ssl> ssl = upstream_ssl(opening, protocols);
  const Deadline deadline = std::min(opening.deadline, deadline_in(limits::kHandshakeTime));
  if (ssl && shake_hands(ssl->get(), opening.upstream.fd(), deadline)) {
    const unsigned char* name = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(ssl->get(), &name, &size);
    const std::string_view chosen(reinterpret_cast<const char*>(name), size);
    if (chosen == kHttp2Name.substr(1)) opening.protocol = Protocol::kHttp2;
    opening.upstream.use_tls(std::move(*ssl));
    return;
  }
  const long verdict = ssl ? SSL_get_verify_result(ssl->get()) : X509_V_OK;
  ERR_clear_error();
  if (verdict != X509_V_OK) {
    const std::string_view reason = X509_verify_cert_error_string(verdict);
    opening.unusable =
        upstream_failure("upstream-certificate",
                         cat({"the certificate of ", opening.connection.host, " could not be verified: ", reason}));
  } else {
    opening.unusable = upstream_failure("upstream-tls", cat({"no TLS with ", opening.connection.host}));
  }
  opening.unusable->what = cat({"TLS with ", opening.connection.host});
}

Result<Ssl> upstream_ssl(const Opening& opening, std::string_view protocols) {
  Ssl ssl(SSL_new(opening.upstream_context));
  if (!ssl) return fail(openssl_error("SSL_new"));
  const std::string& host = opening.connection.host;
  bool ready = SSL_set_fd(ssl.get(), opening.upstream.fd()) == 1;
  if (parse_ip(host)) {
    ready = ready && X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl.get()), host.c_str()) == 1;
  } else {
    SSL_set_hostflags(ssl.get(), X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    ready =
        ready && SSL_set1_host(ssl.get(), host.c_str()) == 1 && SSL_set_tlsext_host_name(ssl.get(), host.c_str()) == 1;
  }
  const auto* const list = reinterpret_cast<const unsigned char*>(protocols.data());
  // This one answers 0 for success.
  ready = ready && SSL_set_alpn_protos(ssl.get(), list, static_cast<unsigned>(protocols.size())) == 0;
  if (!ready) return fail(openssl_error("SSL_set"));
  SSL_set_connect_state(ssl.get());
  return ssl;
}

bool shake_hands(SSL* ssl, int fd, Deadline deadline) {
  for (;;) {
    ERR_clear_error();
    const int answer = SSL_do_handshake(ssl);
    if (answer == 1) return true;
    short events = 0;
    switch (SSL_get_error(ssl, answer)) {
      case SSL_ERROR_WANT_READ: events = POLLIN; break;
      case SSL_ERROR_WANT_WRITE: events = POLLOUT; break;
      default: return false;
    }
    if (wait(fd, events, deadline) == Waited::kTimeout) return false;
  }
}

}  // namespace

}  // namespace hutch::inspect
