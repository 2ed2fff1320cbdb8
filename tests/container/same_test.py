# What is said of every backend, said of containers: the same tests, from the folders that have them.
import same_cases

# Said otherwise in run_test.py: an engine's limits are its own.
OTHERWISE = {"test_processes_are_limited_by_default", "test_a_memory_hog_is_killed",
             "test_json_says_how_limits_are_held", "test_no_cgroup_is_left",
             "test_typing_into_the_callers_terminal_is_refused"}

globals().update(same_cases.of_agents_and_commands(OTHERWISE))
