// hutch image: root file systems of their own for sandboxes.
#pragma once

#include <optional>
#include <string>

#include "service/common/request.h"
#include "service/image/images.h"

namespace hutch::cli {

struct ImageArguments {
  std::string action;  // build, import, pull, list, show, remove
  std::string name;
  std::string source;  // of import an archive, of pull a reference, of build --dockerfile the context
  std::optional<std::string> recipe;      // of build
  std::optional<std::string> dockerfile;  // likewise
  service::Removing removing = service::Removing::kUnused;
  service::OutputForm form = service::OutputForm::kText;
};

int image(const ImageArguments& arguments);

}  // namespace hutch::cli
