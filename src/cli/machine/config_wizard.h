// hutch config without an action: the wizard.
#pragma once

namespace hutch::cli {

// The exit code. Standard input and output have to be a terminal.
int config_wizard();

}  // namespace hutch::cli
