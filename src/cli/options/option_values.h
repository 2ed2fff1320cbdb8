// What each option does with its value, and how a verb's words become its arguments; named by the table of verbs.
#pragma once

#include <array>
#include <string>

#include "cli/options/verbs.h"

namespace hutch::cli {

Status set_wide(Draft& draft, const std::string& value);
Status set_json(Draft& draft, const std::string& value);
Status set_backend(Draft& draft, const std::string& value);
Status set_trust(Draft& draft, const std::string& value);
Status set_image(Draft& draft, const std::string& value);
Status set_attacks(Draft& draft, const std::string& value);
Status set_list(Draft& draft, const std::string& value);
Status add_backend(Draft& draft, const std::string& value);
Status set_policy(Draft& draft, const std::string& value);
Status set_allow_read(Draft& draft, const std::string& value);
Status set_deny_read(Draft& draft, const std::string& value);
Status set_allow_write(Draft& draft, const std::string& value);
Status set_deny_write(Draft& draft, const std::string& value);
Status set_no_outer_repository(Draft& draft, const std::string& value);
Status set_network(Draft& draft, const std::string& value);
Status set_allow_domain(Draft& draft, const std::string& value);
Status set_deny_domain(Draft& draft, const std::string& value);
Status set_allow_udp(Draft& draft, const std::string& value);
Status set_allow_socket(Draft& draft, const std::string& value);
Status set_allow_host_port(Draft& draft, const std::string& value);
Status set_publish(Draft& draft, const std::string& value);
Status set_cwd(Draft& draft, const std::string& value);
Status set_environment(Draft& draft, const std::string& value);
Status set_timeout(Draft& draft, const std::string& value);
Status set_idle_timeout(Draft& draft, const std::string& value);
Status set_memory(Draft& draft, const std::string& value);
Status set_cpus(Draft& draft, const std::string& value);
Status set_pids(Draft& draft, const std::string& value);
Status set_tmp_size(Draft& draft, const std::string& value);
Status set_shell(Draft& draft, const std::string& value);
Status set_control_fd(Draft& draft, const std::string& value);
Status set_count(Draft& draft, const std::string& value);
Status set_force(Draft& draft, const std::string& value);
Status set_recipe(Draft& draft, const std::string& value);
Status set_kernel(Draft& draft, const std::string& value);
Status set_modules(Draft& draft, const std::string& value);
Status set_root(Draft& draft, const std::string& value);
Status set_dockerfile(Draft& draft, const std::string& value);
Status set_follow(Draft& draft, const std::string& value);
Status set_since(Draft& draft, const std::string& value);
Status set_type(Draft& draft, const std::string& value);
Status set_of_run(Draft& draft, const std::string& value);
Status set_detach(Draft& draft, const std::string& value);
Status set_interactive(Draft& draft, const std::string& value);
Status set_tty(Draft& draft, const std::string& value);
Status set_agent(Draft& draft, const std::string& value);
Status set_turn(Draft& draft, const std::string& value);
Status set_idle(Draft& draft, const std::string& value);
Status set_ready_fd(Draft& draft, const std::string& value);
Status set_listen(Draft& draft, const std::string& value);
Status set_token_file(Draft& draft, const std::string& value);
Status set_scope(Draft& draft, const std::string& value);
Status set_session(Draft& draft, const std::string& value);
Status set_minutes(Draft& draft, const std::string& value);
Status set_kill(Draft& draft, const std::string& value);
Status set_line(Draft& draft, const std::string& value);
Status set_signal(Draft& draft, const std::string& value);

Result<Arguments> finish_run(Draft&& draft);
Result<Arguments> finish_explain(Draft&& draft);
Result<Arguments> finish_check(Draft&& draft);
Result<Arguments> finish_doctor(Draft&& draft);
Result<Arguments> finish_selftest(Draft&& draft);
Result<Arguments> finish_log(Draft&& draft);
Result<Arguments> finish_why(Draft&& draft);
Result<Arguments> finish_questions(Draft&& draft);
Result<Arguments> finish_answer(Draft&& draft);
Result<Arguments> finish_revoke(Draft&& draft);
Result<Arguments> finish_audit(Draft&& draft);
Result<Arguments> finish_agent(Draft&& draft);
Result<Arguments> finish_exec(Draft&& draft);
Result<Arguments> finish_shell(Draft&& draft);
Result<Arguments> finish_ps(Draft&& draft);
Result<Arguments> finish_logs(Draft&& draft);
Result<Arguments> finish_attach(Draft&& draft);
Result<Arguments> finish_kill(Draft&& draft);
Result<Arguments> finish_wait(Draft&& draft);
Result<Arguments> finish_tool(Draft&& draft);
Status set_mcp_client(Draft& draft, const std::string& name);
Status set_mcp_project(Draft& draft, const std::string& value);
Status set_mcp_print(Draft& draft, const std::string& value);
Status set_mcp_yes(Draft& draft, const std::string& value);
Status set_vm_yes(Draft& draft, const std::string& value);
Result<Arguments> finish_mcp(Draft&& draft);
Result<Arguments> finish_serve(Draft&& draft);
Result<Arguments> finish_daemon(Draft&& draft);
Result<Arguments> finish_pool(Draft&& draft);
Result<Arguments> finish_task(Draft&& draft);
Result<Arguments> finish_image(Draft&& draft);
Result<Arguments> finish_vm(Draft&& draft);
Result<Arguments> finish_paths(Draft&& draft);
Result<Arguments> finish_config(Draft&& draft);
Result<Arguments> finish_settings(Draft&& draft);
Result<Arguments> finish_status(Draft&& draft);
Result<Arguments> finish_completion(Draft&& draft);
Result<Arguments> finish_help(Draft&& draft);

// Most verbs have this option, some have only this one.
inline constexpr Option kJson = {"--json", 0, "", ValueKind::kFlag, "print JSON", set_json};
inline constexpr std::array kJsonAlone = {kJson};
inline constexpr std::array kJsonGroups = {OptionGroup{"Options", kJsonAlone}};

}  // namespace hutch::cli
