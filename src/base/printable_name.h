// Names about which somebody is asked.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hutch {

// As printable() shows it; of blanks only one that stands alone between other characters stays as it is. A row of them
// would move what follows to where it looks like text of hutch.
std::string printable_name(std::string_view name, std::size_t bytes_max = 16'384);

}  // namespace hutch
