// Calls of E2B's own service that hutch has no part of: each says so, and what there is instead.
#include <array>

#include "server/e2b_api/e2b_view.h"

namespace hutch::server::e2b {

namespace {

using http::BodyType;
using http::Route;

Handled templates(Exchange&, const Asked&) {
  return error_answer(501,
                      "templates are not built by this API: hutch image builds and pulls images, and templates.json "
                      "names them with a backend and limits");
}

Handled snapshots(Exchange&, const Asked&) {
  return error_answer(501, "sandboxes are not copied by this API: pause keeps one as it is, in its own place");
}

Handled volumes(Exchange&, const Asked&) {
  return error_answer(501, "there are no volumes: a template's `dir` is a directory of this machine");
}

Handled secrets(Exchange&, const Asked&) {
  return error_answer(501, "secrets are kept by hutch secret, and bound to hosts there");
}

Handled network(Exchange&, const Asked&) {
  return error_answer(501, "what a sandbox reaches is said by the policy of its template: hutch config");
}

Handled teams(Exchange&, const Asked&) { return error_answer(501, "there are no teams on this machine"); }

bool asks_nothing(Exchange&) { return true; }

// 404 is what @e2b/code-interpreter reads the message of. It shows no token of the sandbox's, and is told nothing of
// one; a body is not read.
Handled kernels(Exchange&) {
  return error_answer(404,
                      "no kernel server (Jupyter) runs in this sandbox, so that runCode and contexts are not there: "
                      "commands and files are; run the code as a program, python3 FILE");
}

constexpr std::array kE2bUnsupportedRoutes = {
    Route{"GET", "/templates", BodyType::kStream, with_key<templates>, shows_key},
    Route{"POST", "/templates", BodyType::kStream, with_key<templates>, shows_key},
    Route{"POST", "/v2/templates", BodyType::kStream, with_key<templates>, shows_key},
    Route{"POST", "/v3/templates", BodyType::kStream, with_key<templates>, shows_key},
    Route{"POST", "/templates/tags", BodyType::kStream, with_key<templates>, shows_key},
    Route{"DELETE", "/templates/tags", BodyType::kStream, with_key<templates>, shows_key},
    Route{"GET", "/templates/{id}", BodyType::kStream, with_key<templates>, shows_key},
    Route{"DELETE", "/templates/{id}", BodyType::kStream, with_key<templates>, shows_key},
    Route{"GET", "/templates/{id}/tags", BodyType::kStream, with_key<templates>, shows_key},
    Route{"GET", "/templates/aliases/{alias}", BodyType::kStream, with_key<templates>, shows_key},
    Route{"GET", "/templates/{id}/files/{hash}", BodyType::kStream, with_key<templates>, shows_key},
    Route{"POST", "/v2/templates/{id}/builds/{build}", BodyType::kStream, with_key<templates>, shows_key},
    Route{"GET", "/templates/{id}/builds/{build}/status", BodyType::kStream, with_key<templates>, shows_key},
    Route{"GET", "/snapshots", BodyType::kStream, with_key<snapshots>, shows_key},
    Route{"POST", "/sandboxes/{id}/snapshots", BodyType::kStream, with_key<snapshots>, shows_key},
    Route{"POST", "/sandboxes/{id}/fork", BodyType::kStream, with_key<snapshots>, shows_key},
    Route{"GET", "/volumes", BodyType::kStream, with_key<volumes>, shows_key},
    Route{"POST", "/volumes", BodyType::kStream, with_key<volumes>, shows_key},
    Route{"GET", "/volumes/{id}", BodyType::kStream, with_key<volumes>, shows_key},
    Route{"DELETE", "/volumes/{id}", BodyType::kStream, with_key<volumes>, shows_key},
    Route{"GET", "/secrets", BodyType::kStream, with_key<secrets>, shows_key},
    Route{"POST", "/secrets", BodyType::kStream, with_key<secrets>, shows_key},
    Route{"GET", "/secrets/{id}", BodyType::kStream, with_key<secrets>, shows_key},
    Route{"POST", "/secrets/{id}", BodyType::kStream, with_key<secrets>, shows_key},
    Route{"DELETE", "/secrets/{id}", BodyType::kStream, with_key<secrets>, shows_key},
    Route{"PUT", "/sandboxes/{id}/network", BodyType::kStream, with_key<network>, shows_key},
    Route{"GET", "/teams", BodyType::kStream, with_key<teams>, shows_key},
    Route{"POST", "/execute", BodyType::kStream, kernels, asks_nothing},
    Route{"GET", "/contexts", BodyType::kStream, kernels, asks_nothing},
    Route{"POST", "/contexts", BodyType::kStream, kernels, asks_nothing},
    Route{"DELETE", "/contexts/{id}", BodyType::kStream, kernels, asks_nothing},
    Route{"POST", "/contexts/{id}/restart", BodyType::kStream, kernels, asks_nothing},
};

}  // namespace

}  // namespace hutch::server::e2b

namespace hutch::server::http {

std::span<const Route> e2b_unsupported_routes() { return e2b::kE2bUnsupportedRoutes; }

}  // namespace hutch::server::http
