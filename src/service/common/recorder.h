// Writes one run to the record while it happens. A record that cannot be written never stops the run.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "egress/events.h"
#include "sandbox/io/outcome.h"
#include "store/spool.h"

namespace hutch::service {

class Recorder {
 public:
  using Tell = std::function<void(const std::string& line)>;
  // Takes out of a text what must not be written down; none: nothing.
  using Scrub = std::function<std::string(const std::string& text)>;

  // Nothing is written yet. `tell` hears once if the record cannot be kept.
  Recorder(const std::string& directory, Tell tell, std::string agent = {}, Scrub scrub = {});

  // For another run, into the same spool.
  Recorder another() const;

  void started(const store::RunStart& start);
  void refused(const sandbox::Refusal& refusal);
  // The first of a run; a program that makes thousands would fill the disk.
  void connected(const egress::Passed& passed);
  void decided(store::Decision decision) { append(std::move(decision)); }
  void used(store::Service service) { append(std::move(service)); }
  void ended(const sandbox::Outcome& outcome);
  // hutch's own failure, after the start.
  void failed(const Error& error);

  // The run's id; empty where no record is kept.
  const std::string& run() const { return run_; }

 private:
  Recorder(Tell tell, std::shared_ptr<store::SpoolWriter> spool, std::string agent, Scrub scrub);
  Status open(const std::string& directory);
  void append(decltype(store::Record::body) body);
  void give_up(const Error& error);

  Tell tell_;
  std::shared_ptr<store::SpoolWriter> spool_;  // null where no record is kept
  std::string run_;
  std::string agent_;
  Scrub scrub_;
  int connections_ = 0;
};

}  // namespace hutch::service
