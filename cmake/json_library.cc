// The JSON library's classes, compiled once: each unit that uses them would else take some seconds for it.
#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

template class nlohmann::basic_json<>;
template class nlohmann::basic_json<nlohmann::ordered_map>;
template class std::vector<nlohmann::json>;
template class std::map<std::string, nlohmann::json, std::less<>>;
template class std::vector<nlohmann::ordered_json>;
