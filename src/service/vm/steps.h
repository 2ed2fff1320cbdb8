// What is provisioned, step by step: what one step has made whole is there for the next provisioning where this one
// does not come to its end.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "service/image/images.h"

namespace hutch::service {

class VmSteps {
 public:
  struct Step {
    std::string name;  // among the steps
    std::string key;   // what it is made of: what another key has made is not this; empty: never taken from before
    std::string what;  // in words
  };
  struct Made {
    std::string about;               // JSON, as its maker wants it
    std::vector<std::string> files;  // by name, in the directory that it was given
  };

  // In the directory `top`, until this object's end nobody else's: whoever provisions there is waited for. What was
  // made more than a day before `now`, in seconds since the epoch, or in another form, is thrown away.
  static Result<VmSteps> open(const std::string& top, int form, std::int64_t now);

  // Where files of steps are, whole.
  const std::string& directory() const { return directory_; }
  std::string file(std::string_view name) const;

  // What the step says about itself: of before, where its key and the checksums of all of its files are what they were;
  // else `make` makes them anew in an empty directory of its own, and they are taken over when it is done.
  Result<std::string> take(const Step& step, const std::function<Result<Made>(const std::string& into)>& make,
                           const TellImage& tell);

  // Checksums of all files of the steps taken so far but those of `step`.
  std::map<std::string, std::string> sums_without(const std::string& step) const;

  // They become the directory `files` beside, with a file of that name and text, in one moment; what was there goes
  // then. Files that are in neither `keep` nor this are left out.
  Status publish(const std::string& name, const std::string& text, const std::vector<std::string>& keep);

 private:
  struct Record {
    std::string key;
    std::string about;
    std::map<std::string, std::string> sums;  // by the file's name
  };
  VmSteps(std::string top, int form, std::int64_t begun)
      : top_(std::move(top)), directory_(top_ + "/begun"), form_(form), begun_(begun) {}
  void read(std::int64_t now);
  Status write() const;
  bool is_whole(const Record& record) const;

  std::string top_;
  std::string directory_;
  int form_;
  std::int64_t begun_;
  UniqueFd lock_;
  std::map<std::string, Record> records_;  // of before, and of now
  std::map<std::string, Record> taken_;
};

// Removes what a hutch that was killed had begun to make there, and was not whole.
void remove_half_made(const std::string& top);
// A path there for what is not whole yet, by this process's number: remove_half_made knows it.
std::string half_made(const std::string& top);

}  // namespace hutch::service
