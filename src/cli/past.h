// The record as the verbs log, why and audit open it.
#pragma once

#include <string>

#include "base/result.h"
#include "store/spool.h"

namespace hutch::cli {

// Where this user's record is.
Result<std::string> record_directory();

// Everything on record. Lines that are none are told of on standard error.
Result<store::SpoolContents> read_record();

void tell_of_damage(std::size_t lines);

}  // namespace hutch::cli
