// The program hutch: reads the command line and hands each verb to its file.
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/text.h"
#include "cli/arguments.h"
#include "cli/check.h"
#include "cli/explain.h"
#include "cli/help.h"
#include "cli/run.h"
#include "sys/io.h"

namespace hutch::cli {

namespace {

constexpr int kOwnFailure = 125;

int print(const std::string& text) { return sys::write_all(1, text) ? 0 : kOwnFailure; }

struct Dispatch {
  int operator()(const service::RunRequest& request) const { return run(request); }
  int operator()(const ExplainArguments& arguments) const {
    return explain(arguments.place, arguments.form, arguments.names);
  }
  int operator()(const CheckArguments& arguments) const {
    return check(arguments.place, arguments.form, arguments.access, arguments.path);
  }
  int operator()(const HelpArguments& arguments) const { return print(help_text(arguments.verb)); }
  int operator()(const VersionArguments&) const { return print("hutch " HUTCH_VERSION "\n"); }
  template <class Other>
  int operator()(const Other&) const {
    (void)sys::write_all(2, "hutch: this verb is not built yet\n");
    return kOwnFailure;
  }
};

int run_program(const std::vector<std::string>& words) {
  const Result<Arguments> arguments = parse_arguments(words);
  if (!arguments) {
    (void)sys::write_all(2, cat({"hutch: ", arguments.error().message, "\n"}));
    return kOwnFailure;
  }
  return std::visit(Dispatch(), *arguments);
}

}  // namespace

}  // namespace hutch::cli

int main(int argc, char** argv) { return hutch::cli::run_program({argv + (argc > 0 ? 1 : 0), argv + argc}); }
