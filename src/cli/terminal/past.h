// The record as the verbs log, why and audit open it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "service/common/history.h"
#include "service/common/request.h"
#include "store/spool.h"

namespace hutch::cli {

// Where this user's record is.
Result<std::string> record_directory();

// Everything on record. Lines that are none are told of on standard error.
Result<store::SpoolContents> read_record();

// Those that pass, a line each; the exit code.
int print_records(const std::vector<store::Record>& records, service::OutputForm form,
                  const service::AuditFilter& filter);

// Goes on with what is recorded from now on, until a signal or a reader that has gone ends it.
int follow_record(store::SpoolFollower& follower, service::OutputForm form, const service::AuditFilter& filter);

}  // namespace hutch::cli
