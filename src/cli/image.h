// hutch image: root file systems of their own for sandboxes.
#pragma once

#include <optional>
#include <string>

#include "service/images.h"
#include "service/request.h"

namespace hutch::cli {

struct ImageArguments {
  std::string action;  // build, import, list, show, remove
  std::string name;
  std::string archive;  // of import
  std::optional<std::string> recipe;  // of build
  service::Removing removing = service::Removing::kUnused;
  service::OutputForm form = service::OutputForm::kText;
};

int image(const ImageArguments& arguments);

}  // namespace hutch::cli
