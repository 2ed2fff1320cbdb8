// The addresses that the gateway's DNS gives to names: one of each kind for a name, and back from the address.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/ip_address.h"
#include "plan/make/gateway_names.h"

namespace hutch::egress {

class Names {
 public:
  // At most `names_max` names are remembered (no more than fit into 198.18.0.0/16); then the one that was asked for
  // longest ago is forgotten, and its address is given to nobody else for as long as can be.
  explicit Names(std::uint32_t names_max = 60'000);

  // Those of a name, now and as long as it is remembered.
  plan::NameAddresses addresses_of(std::string_view name);

  // Gives the name this address and its like, which are never forgotten. Before any other is given.
  void keep(std::string_view name, const IpAddress& address);

  // The name that has the address; absent when none has.
  std::optional<std::string> name_of(const IpAddress& address) const;

 private:
  struct Entry {
    std::string name;
    std::uint32_t number = 0;
    bool kept = false;
  };
  using Entries = std::list<Entry>;  // the one that was asked for last first

  std::uint32_t next_number();

  std::uint32_t names_max_;
  std::uint32_t last_number_ = 0;
  Entries entries_;
  Entries kept_;
  std::unordered_map<std::string_view, Entries::iterator> by_name_;
  std::unordered_map<std::uint32_t, Entries::iterator> by_number_;
};

}  // namespace hutch::egress
