// Reads shared files and holds them to their records.
#include "service/agent/artifacts.h"

#include <algorithm>
#include <utility>

#include "base/sha256.h"
#include "base/text.h"

namespace hutch::service {

namespace {

Error changed_artifact(const store::Artifact& artifact, std::string_view how) {
  return {Code::kConflict, 0,
          cat({printable(artifact.name), " is not what was shared: ", how,
               "; the file itself is in the agent's output directory"})};
}

}  // namespace

tool::Value::Object shown_artifact(const secret::Scrubber& scrubber, const store::Artifact& artifact) {
  return {{"name", scrubber.scrub(artifact.name)},
          {"size", artifact.size},
          {"sha256", artifact.sha256},
          {"type", scrubber.scrub(artifact.type)},
          {"description", scrubber.scrub(artifact.description)},
          {"shared", artifact.shared}};
}

Status read_artifact(AgentSandbox& agent, const store::Artifact& artifact,
                     const std::function<Status(std::string_view piece)>& take) {
  const wire::FilePlace place{agent.layout().output, artifact.name};
  Sha256 sum;
  std::uint64_t at = 0;
  do {
    const std::uint64_t most = std::clamp<std::uint64_t>(artifact.size - at, 1, wire::kFileChunkBytes);
    wire::FileReply reply = TRY(agent.file(wire::ReadFile{place, at, most}));
    const auto* content = std::get_if<wire::FileContent>(&reply);
    if (content == nullptr) return fail(Error{Code::kSystem, 0, "the sandbox answered something else"});
    if (content->stat.version.size != artifact.size) return fail(changed_artifact(artifact, "it has another size"));
    if (content->bytes.empty() && at < artifact.size) return fail(changed_artifact(artifact, "it ends early"));
    sum.add(content->bytes);
    at += content->bytes.size();
    if (at > artifact.size) return fail(changed_artifact(artifact, "it has another size"));
    TRY(take(content->bytes));
  } while (at < artifact.size);
  if (std::move(sum).finish() == artifact.sha256) return {};
  return fail(changed_artifact(artifact, "its hash is another"));
}

}  // namespace hutch::service
