// settings: shows and changes config.json.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "service/common/request.h"

namespace hutch::service {

struct SettingsRequest {
  std::string action;              // show, get, set, remove, edit, path, schema
  std::vector<std::string> words;  // what follows it
  OutputForm form = OutputForm::kText;
};

struct SettingsAnswer {
  std::string text;
  int exit_code = 0;  // 1: what was asked about is not set
};

// `directory` holds config.json; `environment` is the caller's, "K=V" each.
Result<SettingsAnswer> settle_settings(const SettingsRequest& request, const std::string& directory,
                                       const std::vector<std::string>& environment);

}  // namespace hutch::service
