// The JSON library with its classes instantiated elsewhere (json_library.cc), for the precompiled header.
#pragma once

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

extern template class nlohmann::basic_json<>;
extern template class nlohmann::basic_json<nlohmann::ordered_map>;
extern template class std::vector<nlohmann::json>;
extern template class std::map<std::string, nlohmann::json, std::less<>>;
extern template class std::vector<nlohmann::ordered_json>;
