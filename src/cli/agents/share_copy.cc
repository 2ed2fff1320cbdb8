// hutch share --copy, and hutch unshare of a copy.
#include "cli/agents/share_copy.h"

#include <signal.h>

#include <array>
#include <chrono>
#include <optional>

#include "base/text.h"
#include "base/unique_fd.h"
#include "cli/terminal/consent.h"
#include "cli/terminal/output.h"
#include "service/share/copy.h"
#include "sys/process/signals.h"
#include "sys/process/unwaiting.h"

namespace hutch::cli {

namespace {

using std::chrono::steady_clock;

std::string place_of(const store::Copy& copy) { return cat({copy.home, "/", copy.into}); }

// What ends a copy early, so that what was made of it is removed first.
class Interruption {
 public:
  static Result<Interruption> watch() {
    return Interruption(TRY(sys::signal_descriptor({SIGINT, SIGTERM, SIGHUP, SIGQUIT})));
  }
  Status check() {
    if (signal_ == 0) {
      const auto arrived = TRY(sys::next_signal(signals_.get()));
      if (arrived) signal_ = arrived->signal;
    }
    if (signal_ == 0) return {};
    return fail(Error{Code::kConflict, 0, "interrupted"});
  }
  int signal() const { return signal_; }

 private:
  explicit Interruption(UniqueFd signals) : signals_(std::move(signals)) {}
  UniqueFd signals_;
  int signal_ = 0;
};

// A line that is written over, four times a second.
class Progress {
 public:
  explicit Progress(service::OutputForm form) : shows_(is_terminal(2) && form == service::OutputForm::kText) {}
  void tell(const service::CopyCounts& counts) {
    const auto now = steady_clock::now();
    if (!shows_ || now - last_ < std::chrono::milliseconds(250)) return;
    last_ = now;
    (void)sys::write_until_told(2, cat({"\r\x1b[Khutch: ", std::to_string(counts.files), " files, ",
                                        std::to_string(counts.bytes >> 20), " MiB"}));
    told_ = true;
  }
  void clear() const {
    if (told_) (void)sys::write_until_told(2, "\r\x1b[K");
  }

 private:
  const bool shows_;
  bool told_ = false;
  steady_clock::time_point last_ = steady_clock::now();
};

void tell_copies(std::size_t count, std::string_view what) {
  if (count > 0) (void)sys::write_until_told(2, cat({"hutch: ", std::to_string(count), " ", what, "\n"}));
}

tool::Value copy_report_json(const service::CopyReport& report) {
  tool::Value::Object object = *copy_json(report.copy).get<tool::Value::Object>();
  const service::CopyCounts& counts = report.counts;
  object["files"] = static_cast<std::int64_t>(counts.files);
  object["directories"] = static_cast<std::int64_t>(counts.directories);
  object["links"] = static_cast<std::int64_t>(counts.links);
  object["bytes"] = static_cast<std::int64_t>(counts.bytes);
  object["reflinked"] = static_cast<std::int64_t>(counts.cloned);
  object["special"] = static_cast<std::int64_t>(counts.special);
  object["elsewhere"] = static_cast<std::int64_t>(counts.elsewhere);
  object["unreadable"] = static_cast<std::int64_t>(counts.unreadable);
  return object;
}

int print_report(const service::CopyReport& report, service::OutputForm form) {
  const service::CopyCounts& counts = report.counts;
  tell_copies(counts.special, "sockets, pipes and devices are left out");
  tell_copies(counts.elsewhere, "places where something is mounted are left out");
  tell_copies(counts.unreadable, "files and directories that you may not read are left out");
  if (form == service::OutputForm::kJson) return print(tool::json_text(copy_report_json(report)) + "\n");
  const std::string how = counts.cloned > 0 ? ", which share their blocks (reflink)" : "";
  return print(cat({"Copied ", printable(report.copy.source), " to ", printable(place_of(report.copy)), " of ",
                    report.copy.user, ": ", counted(counts.files, "file"), how, "\n"}));
}

Status ask_to_remove(const std::vector<store::Copy>& copies, ShareArguments::Removal removal) {
  if (removal == ShareArguments::Removal::kYes) return {};
  std::string what;
  for (const store::Copy& copy : copies) {
    what += cat({"the copy ", printable(place_of(copy)), " of ", copy.user, " is removed, with all changes in it\n"});
  }
  return ask_consent(
      {.what = what, .question = "Remove it?", .option = "--yes removes it", .declined = "nothing was removed"});
}

std::string_view files_words(service::EndedCopy::Files files) {
  using Files = service::EndedCopy::Files;
  if (files == Files::kUserGone) return "forgotten: the user is gone, and what is left of its home is root's to remove";
  return files == Files::kRemoved ? "removed" : "was gone already";
}

std::string_view files_name(service::EndedCopy::Files files) {
  using Files = service::EndedCopy::Files;
  if (files == Files::kUserGone) return "user gone";
  return files == Files::kRemoved ? "removed" : "gone already";
}

}  // namespace

tool::Value copy_json(const store::Copy& copy) {
  const bool whole = copy.state == store::Copy::State::kCopied;
  return tool::Value::Object{
      {"path", copy.source}, {"user", copy.user},      {"uid", static_cast<std::int64_t>(copy.agent)},
      {"mode", "copied"},    {"into", place_of(copy)}, {"state", whole ? "copied" : "copying"},
      {"since", copy.since}};
}

std::vector<std::string> copy_row(const store::Copy& copy) {
  const bool whole = copy.state == store::Copy::State::kCopied;
  const std::string place = cat({"into ", printable(place_of(copy))});
  return {printable(copy.source), copy.user, "copied", copy.since,
          whole ? place : cat({place, ", interrupted: unshare it"})};
}

int share_copy(const ShareArguments& arguments, const host::OsUser& user, const service::Sharer& sharer) {
  const service::CopyRequest request{arguments.path, arguments.into, user, arguments.agent};
  if (arguments.print == ShareArguments::Print::kCommands) {
    const auto commands = service::copy_commands(request, sharer);
    return commands ? print(join(*commands, "\n") + "\n") : complain(commands.error());
  }
  auto interruption = Interruption::watch();
  if (!interruption) return complain(interruption.error());
  Progress progress(arguments.form);
  const auto report =
      service::copy_to_agent(request, sharer,
                             {.go_on = [&] { return interruption->check(); },
                              .progress = [&](const service::CopyCounts& counts) { progress.tell(counts); }});
  progress.clear();
  if (report) return print_report(*report, arguments.form);
  const int code = complain(report.error());
  if (interruption->signal() != 0) sys::end_by(interruption->signal());
  return code;
}

int remove_copies(const ShareArguments& arguments, const std::string& user, const service::Sharer& sharer,
                  const Error& not_shared) {
  const auto consent = [&](const std::vector<store::Copy>& copies) { return ask_to_remove(copies, arguments.removal); };
  const auto ended = service::end_copies(arguments.path, user, arguments.agent, sharer, consent);
  if (!ended) return complain(ended.error().code == Code::kNotFound ? not_shared : ended.error());
  tool::Value::List array;
  for (const service::EndedCopy& one : *ended) {
    tool::Value::Object object = *copy_json(one.copy).get<tool::Value::Object>();
    object["files"] = std::string(files_name(one.files));
    array.emplace_back(std::move(object));
    if (arguments.form == service::OutputForm::kJson) continue;
    (void)print(cat({printable(place_of(one.copy)), " of ", one.copy.user, ": ", files_words(one.files), "\n"}));
  }
  if (arguments.form != service::OutputForm::kJson) return 0;
  return print(tool::json_text(tool::Value(std::move(array))) + "\n");
}

}  // namespace hutch::cli
