// Variables of the environment by which programs are told what to run, to load, to trust or who they are. Pure.
#pragma once

#include <string_view>

namespace hutch {

// In capitals or not. Whoever may choose the value of one chooses what the programs do that read it.
bool takes_orders(std::string_view name);

}  // namespace hutch
