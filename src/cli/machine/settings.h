// hutch settings: what is set in config.json.
#pragma once

#include "service/run/settings.h"

namespace hutch::cli {

// The exit code: 1 where what was asked about is not set, 125 where nothing was changed.
int settings(const service::SettingsRequest& request);

}  // namespace hutch::cli
