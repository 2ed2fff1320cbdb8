// Asks before something runs without isolation.
#include "service/common/isolation_question.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

#include "base/text.h"

namespace hutch::service {

approval::Effect ask_before_start(sandbox::Questions& questions, const std::string& what, const std::stop_token& stop) {
  // That nobody is there any more who could answer is announced by nothing.
  static constexpr std::chrono::milliseconds kLook{500};
  struct Wake {
    std::mutex mutex;
    std::condition_variable_any changed;
    bool answered = false;
  };
  // A client's thread may answer while this one leaves.
  const auto wake = std::make_shared<Wake>();
  questions.wake_by([wake] {
    const std::scoped_lock lock(wake->mutex);
    wake->answered = true;
    wake->changed.notify_all();
  });
  std::optional<approval::Effect> effect;
  const approval::Question question{
      .kind = approval::Kind::kIsolation, .target = what, .rule = "security.askWithoutIsolation"};
  questions.ask(question, [&effect](const approval::Effect& given) { effect = given; });
  while (!effect) {
    {
      std::unique_lock lock(wake->mutex);
      wake->changed.wait_for(lock, stop, questions.time_left().value_or(kLook), [&] { return wake->answered; });
      wake->answered = false;
    }
    if (stop.stop_requested())
      questions.close("it was stopped");
    else
      (void)questions.step(sandbox::Questions::Keys::kNone);
  }
  return *effect;
}

Error not_allowed_without_isolation(const std::string& settings) {
  return Error{Code::kPermissionDenied, 0,
               cat({"backend none isolates nothing, security.askWithoutIsolation in ", settings,
                    " has it asked, and the answer was no; questions are answered by `hutch questions --follow`, "
                    "`hutch answer` and clients of HTTP and MCP, or name another backend"})};
}

}  // namespace hutch::service
