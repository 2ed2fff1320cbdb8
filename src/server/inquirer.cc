// Puts the questions of an agent's sandbox to whoever uses an MCP client.
#include "server/inquirer.h"

#include <array>

#include "base/text.h"
#include "sys/threads.h"

namespace hutch::server {

namespace {

constexpr std::string_view kClient = "the MCP client";

}  // namespace

Inquirer::Inquirer(Shared& shared, std::string agent, const mcp::CallOptions& options)
    : shared_(shared), agent_(std::move(agent)), options_(options) {
  auto pipe = sys::pipe();
  auto attendant = shared_.agents.board().attend(agent_);
  // Out of descriptors, or of threads: the call goes on, and nobody is asked.
  if (!pipe || !attendant) return;
  stop_ = std::move(*pipe);
  auto thread = sys::start_thread([this, attendant = std::move(*attendant)] { listen(attendant); });
  if (thread) thread_ = std::move(*thread);
}

Inquirer::~Inquirer() {
  stop_.write.reset();
  if (thread_.joinable()) thread_.join();
}

void Inquirer::listen(const std::shared_ptr<service::QuestionBoard::Attendant>& attendant) {
  for (const service::BoardEvent& event : shared_.agents.questions(agent_)) take(event);
  for (;;) {
    while (const auto event = attendant->take()) take(*event);
    std::array<pollfd, 2> wait = {{{attendant->fd(), POLLIN, 0}, {stop_.read.get(), POLLIN, 0}}};
    if (!sys::poll(wait, std::nullopt) || wait[1].revents != 0) return;
  }
}

void Inquirer::take(const service::BoardEvent& event) {
  if (event.kind == service::BoardEvent::Kind::kAnswered) return options_.withdraw(event.id);
  options_.inquire({.key = event.id,
                    .message = message_of(event),
                    .choices = event.question.choices,
                    .on_answer = [&shared = shared_, id = event.id](const std::string& choice) {
                      // Somebody may have been faster, or it is none of the choices: the question stays as it is.
                      (void)shared.agents.answer(id, {.id = {}, .choice = choice, .minutes = {}}, kClient);
                    }});
}

std::string message_of(const service::BoardEvent& event) {
  const wire::ControlQuestion& question = event.question;
  const std::string target = question.path.empty()
                                 ? cat({printable(question.host, 255), ":", std::to_string(question.port)})
                                 : printable(question.path, 255);
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
