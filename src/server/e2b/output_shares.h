// What processes wrote and nobody has read, of all processes of one key together: the largest gives way.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace hutch::server {

// Whoever keeps output. Called with the shares' lock held, by any thread.
class KeepsOutput {
 public:
  virtual ~KeepsOutput() = default;
  struct Kept {
    std::uint64_t bytes = 0;
    std::uint64_t droppable = 0;  // of these: the rest is on its way to somebody who reads
  };
  virtual Kept kept() const = 0;
  virtual void drop(std::uint64_t bytes) = 0;  // of the oldest, about so many; none that are not droppable
};

// Any thread may use it. Its members may outlive it.
class OutputShares {
 public:
  explicit OutputShares(std::uint64_t most);
  ~OutputShares();

  class Member {
    struct Shares;

   public:
    Member(std::shared_ptr<Shares> shares, std::string key, KeepsOutput& keeper);
    ~Member();
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;
    // It keeps more by now, or less. Where the key has more than it may, the one that keeps the most that can be
    // dropped loses the oldest of it, until all is within the bound, or nothing is left to drop.
    void changed();

   private:
    friend class OutputShares;
    const std::shared_ptr<Shares> shares_;
    const std::string key_;
    KeepsOutput& keeper_;
  };
  // Of one key, as long as it is there.
  std::unique_ptr<Member> join(const std::string& key, KeepsOutput& keeper);

 private:
  using Shares = Member::Shares;
  std::shared_ptr<Shares> shares_;
};

}  // namespace hutch::server
