// What each tool does. Arguments were read and held to the tool's parameters before.
#pragma once

#include "tool/registry.h"

namespace hutch::tool {

Envelope read_file(const Call& call);
Envelope list_directory(const Call& call);
Envelope search_files(const Call& call);
Envelope find_files(const Call& call);
Envelope write_file(const Call& call);
Envelope edit_file(const Call& call);
Envelope move_file(const Call& call);
Envelope delete_file(const Call& call);
Envelope execute(const Call& call);
Envelope execute_in_background(const Call& call);
Envelope control_process(const Call& call);
Envelope run_script(const Call& call);
Envelope install_packages(const Call& call);
Envelope install_with_pip(const Call& call);
Envelope install_with_npm(const Call& call);
Envelope run_coding_agent(const Call& call);
Envelope share_artifact(const Call& call);
Envelope check_secret(const Call& call);
Envelope set_secret(const Call& call);
Envelope register_plugin(const Call& call);

}  // namespace hutch::tool
