// hutch doctor: what works on this machine.
#pragma once

#include "cli/options/arguments.h"

namespace hutch::cli {

// The exit code: 0 also where a backend does not work; 125 where nothing could be found out.
int doctor(const DoctorArguments& arguments);

}  // namespace hutch::cli
