// What an engine of containers answers: HTTP in pieces of any size, then the JSON of each kind of answer.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "backend/container/engine_answers.h"
#include "backend/container/engine_http.h"
#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hutch::backend::container;  // NOLINT
  if (size == 0) return 0;
  const std::size_t step = 1 + data[0];
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  AnswerReader reader;
  bool good = true;
  for (std::size_t at = 0; good && at < bytes.size() && !reader.done(); at += step) {
    good = reader.take(bytes.substr(at, step)).has_value();
  }
  if (!good || !reader.end()) return 0;
  const Answer answer = reader.answer();
  CHECK(answer.body.size() <= AnswerReader::kBodyBytesMax);
  (void)good_body(answer, "GET /");
  (void)read_version(answer.body);
  (void)read_podman_ping(answer);
  (void)read_info(answer.body);
  (void)read_container_state(answer.body);
  (void)check_imported(answer.body);
  const auto path = read_path_stat(answer.path_stat);
  CHECK(!path || path->kind == PathInside::Kind::kLink || path->leads_to.empty());
  const auto image = read_image(answer.body);
  CHECK(!image ||
        std::ranges::all_of(image->labels, [](const auto& label) { return label.first.starts_with("hutch."); }));
  const auto names = read_own_names(answer.body);
  // They become parts of paths.
  CHECK(!names || std::ranges::all_of(*names, [](const std::string& name) {
    return name.size() == kNamePrefix.size() + kNameDigits && name.find('/') == std::string::npos;
  }));
  const auto created = read_created(answer.body);
  // It becomes a part of a path.
  CHECK(!created || created->find_first_not_of("0123456789abcdef") == std::string::npos);
  return 0;
}
