// How many processes that have ended a sandbox that stays remembers.
#include "sandbox/resident/ended_processes.h"

#include <algorithm>

#include "sandbox/resident/resident.h"

namespace hutch::sandbox {

namespace {

// Of those that keep no output: what is shown of each is its command.
constexpr std::size_t kEndedWordsMax = 256 << 10;

}  // namespace

std::vector<std::shared_ptr<Process>> take_forgotten(std::deque<std::shared_ptr<Process>>& ended) {
  std::vector<std::shared_ptr<Process>> forgotten;
  const bool kept = ended.back()->keeps_output();
  std::size_t count = 0;
  std::size_t bytes = 0;
  // From the newest on; that one is remembered in any case where its output is kept.
  for (auto at = ended.rbegin(); at != ended.rend(); ++at) {
    if ((*at)->keeps_output() != kept) continue;
    bytes += (*at)->bytes_kept();
    for (const std::string& word : (*at)->arguments()) bytes += sizeof(std::string) + word.size();
    ++count;
    const bool is_little = bytes <= (kept ? kEndedBytesMax : kEndedWordsMax);
    if ((count == 1 && kept) || (count <= kEndedProcessesMax && is_little)) continue;
    forgotten.push_back(std::move(*at));
  }
  std::erase(ended, nullptr);
  return forgotten;
}

}  // namespace hutch::sandbox
