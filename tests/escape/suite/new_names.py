# Cases about names that come to exist while the sandbox runs.
"""Only a supervisor holds those. A backend without one holds the names that exist at its start (SECURITY.md)."""

NAMES = {
    "git": (
        "a_bare_repository_by_the_lock_file", "a_bare_repository_head_copied", "a_bare_repository_objects_moved_there",
        "a_bare_repository_the_configuration_kept_open", "a_bare_repository_the_configuration_last",
        "a_configuration_that_an_included_one_includes", "a_configuration_that_is_included",
        "a_configuration_that_the_environment_names", "a_program_of_a_setting_in_the_environment",
        "a_program_that_the_environment_names", "a_project_that_is_no_repository", "a_script_of_git_instaweb",
        "a_worktrees_configuration", "an_alias_that_changes_the_directory", "another_configuration_by_commondir",
        "hooks_by_a_hard_link_of_a_symbolic_link", "hooks_of_a_bare_repository",
        "the_project_as_a_bare_repository",
    ),
    "moves": (
        "the_directory_of_a_pattern",
    ),
    "names": (
        "a_configuration_by_one_call", "a_configuration_by_replacing", "a_dangling_link", "a_link_as_a_module",
        "a_link_as_git", "a_link_that_is_moved_there", "a_modules_branch", "a_modules_directory",
        "a_modules_directory_nested",
        "a_modules_remote", "a_name_by_one_call", "a_patterns_directory", "a_patterns_directory_of_the_same_name",
        "a_remote_the_older_way", "a_sample_that_gets_a_hooks_name", "a_second_name", "a_tree_as_claude",
        "a_tree_as_git", "an_odd_spelling",
        "an_outer_tree", "by_one_call_through_a_directorys_link", "by_way_of_proc", "by_way_of_procs_root",
        "hooks_by_replacing", "hooks_of_the_same_name", "hooks_over_the_empty_ones", "modules_of_the_same_name",
        "the_configurations_file",
    ),
    "outer_repository": (
        "a_link_among_references", "a_link_to_the_log", "a_pipe_among_references_by_a_move", "a_replacement",
        "another_object_store", "another_object_store_by_a_link", "another_object_store_its_directory_moved",
        "its_bisection", "its_bisections_references", "its_rewritten_references", "its_worktree_references",
        "the_worktrees_configuration", "the_worktrees_configuration_by_gits_lock",
    ),
    "write_hooks": (
        "a_new_zshrc", "commondir", "config_worktree", "gitconfig",
    ),
}
# Of these each case is one: they open a file, and its name is protected afterwards.
ATTACKS = ("descriptor",)
# They supervise no calls about files.
BACKENDS = ("container", "user")


def is_one(case):
    return case.attack in ATTACKS or case.name in NAMES.get(case.attack, ())
