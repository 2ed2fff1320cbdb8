// Puts the questions of an agent's sandbox to whoever uses an MCP client.
#include "server/mcp_api/inquirer.h"

#include "base/printable_name.h"
#include "base/text.h"
#include "server/state/question_views.h"

namespace hutch::server {

namespace {

constexpr std::string_view kMcpClient = "the MCP client";

}  // namespace

Inquirer::Inquirer(Shared& shared, std::string agent, const mcp::CallOptions& options)
    : shared_(shared),
      agent_(std::move(agent)),
      options_(options),
      attending_(
          shared_.agents.board().attend(agent_), [this](const service::BoardEvent& event) { take(event); },
          [this] {
            for (const service::BoardEvent& event : shared_.agents.questions(agent_)) take(event);
          }) {}

void Inquirer::take(const service::BoardEvent& event) {
  if (event.kind == service::BoardEvent::Kind::kAnswered) return options_.withdraw(event.id);
  options_.inquire({.key = event.id,
                    .message = message_of(scrubbed_question(shared_.agents, event)),
                    .choices = event.question.choices,
                    .on_answer = [&shared = shared_, id = event.id](const std::string& choice) {
                      // Somebody may have been faster, or it is none of the choices: the question stays as it is.
                      (void)shared.agents.answer(id, {.id = {}, .choice = choice, .minutes = {}}, kMcpClient);
                    }});
}

std::string message_of(const service::BoardEvent& event) {
  const wire::ControlQuestion& question = event.question;
  const std::string target = question.path.empty()
                                 ? cat({printable(question.host, 255), ":", std::to_string(question.port)})
                                 : printable_name(question.path);
  const std::string who = question.program.empty() ? std::string()
                                                   : cat({" It is asked for by ", printable(question.program, 255),
                                                          " (process ", std::to_string(question.pid), ")."});
  if (question.kind == "isolation") {
    return cat({"May agent ", event.agent, " run without isolation, with all that you may do on this machine?"});
  }
  return cat({"May the sandbox of agent ", event.agent, " ", question.kind == "connect" ? "connect to" : question.kind,
              " ", target, "?", who});
}

}  // namespace hutch::server
