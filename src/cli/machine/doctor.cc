// hutch doctor.
#include "cli/machine/doctor.h"

#include "cli/machine/diagnose.h"
#include "cli/terminal/output.h"
#include "service/prepare/doctor.h"

namespace hutch::cli {

int doctor(const DoctorArguments& arguments) {
  if (arguments.backend) return diagnose(*arguments.backend, arguments.form);
  const Result<service::Checkup> checkup = service::check_up();
  if (!checkup) return complain(checkup.error());
  return print(arguments.form == service::OutputForm::kJson ? service::checkup_json(*checkup)
                                                            : service::checkup_text(*checkup));
}

}  // namespace hutch::cli
