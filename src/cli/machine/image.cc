// hutch image.
#include "cli/machine/image.h"

#include "base/text.h"
#include "cli/terminal/output.h"
#include "cli/terminal/own_daemon.h"
#include "host/machine/facts.h"
#include "service/image/build.h"
#include "service/image/dockerfile.h"
#include "service/image/images.h"
#include "service/image/pull.h"
#include "sys/process/unwaiting.h"

namespace hutch::cli {

namespace {

using store::ImageManifest;

int show_note(const std::string& line) {
  (void)sys::write_until_told(2, cat({"hutch: ", line, "\n"}));
  return 0;
}

std::string_view users_of(const ImageManifest& manifest) {
  return manifest.ids.kind == plan::IdMap::Kind::kMany ? "many" : "one";
}

int print_images(const std::vector<ImageManifest>& images, service::OutputForm form) {
  if (form == service::OutputForm::kJson) {
    std::string text;
    for (const ImageManifest& image : images) text += cat({text.empty() ? "" : ",", store::manifest_json(image)});
    return print(cat({"[", text, "]\n"}));
  }
  std::vector<std::vector<std::string>> rows = {{"IMAGE", "MADE", "SIZE", "USERS"}};
  for (const ImageManifest& image : images) {
    rows.push_back({image.name, printable(image.made), cat({std::to_string(image.bytes >> 20), "M"}),
                    std::string(users_of(image))});
  }
  return print(table(rows));
}

int print_one(const ImageManifest& image, service::OutputForm form) {
  if (form == service::OutputForm::kJson) return print(store::manifest_json(image));
  return print(table({{"image", image.name},
                      {"digest", printable(image.digest)},
                      {"made", printable(image.made)},
                      {"entries", std::to_string(image.entries)},
                      {"bytes", std::to_string(image.bytes)},
                      {"users", std::string(users_of(image))}}));
}

}  // namespace

int image(const ImageArguments& arguments) {
  const auto facts = host::probe_facts();
  if (!facts) return complain(facts.error());
  if (arguments.action == "list") {
    const auto images = service::list_images(*facts);
    return images ? print_images(*images, arguments.form) : complain(images.error());
  }
  if (arguments.action == "remove") {
    const Status removed = service::remove_image(arguments.name, arguments.removing, *facts);
    return removed ? 0 : complain(removed.error());
  }
  const auto made = [&] {
    if (arguments.action == "show") return service::show_image(arguments.name, *facts);
    if (arguments.dockerfile) {
      return service::build_dockerfile({arguments.name, *arguments.dockerfile, arguments.source}, *facts, show_note);
    }
    if (arguments.action == "build") return service::build_image({arguments.name, arguments.recipe}, *facts, show_note);
    if (arguments.action == "pull") return service::pull_image({arguments.source, arguments.name}, *facts, show_note);
    return service::import_image({arguments.name, arguments.source}, *facts, show_note);
  };
  const auto manifest = made();
  return manifest ? print_one(*manifest, arguments.form) : complain(manifest.error());
}

}  // namespace hutch::cli
