// hutch image: root file systems of their own for sandboxes.
#pragma once

#include <string>

#include "service/images.h"
#include "service/request.h"

namespace hutch::cli {

struct ImageArguments {
  std::string action;  // import, list, show, remove
  std::string name;
  std::string archive;  // of import
  service::Removing removing = service::Removing::kUnused;
  service::OutputForm form = service::OutputForm::kText;
};

int image(const ImageArguments& arguments);

}  // namespace hutch::cli
