# What is said of every backend, said of containers: the same tests, from the folders that have them.
import importlib.util
import inspect
import pathlib

TESTS = pathlib.Path(__file__).resolve().parent.parent

# Said otherwise in run_test.py: an engine's limits are its own.
OTHERWISE = {"test_processes_are_limited_by_default", "test_a_memory_hog_is_killed",
             "test_json_says_how_limits_are_held", "test_no_cgroup_is_left",
             "test_typing_into_the_callers_terminal_is_refused"}


def cases_with(argument, path):
    spec = importlib.util.spec_from_file_location(f"same_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, value in vars(module).items():
        if name.startswith("test_") and name not in OTHERWISE and argument in inspect.signature(value).parameters:
            yield f"{name}__{path.stem}", value


for file in sorted((TESTS / "agents").glob("*_test.py")):
    globals().update(cases_with("any_agent", file))
for word in ("ends", "exit", "streams", "terminal"):
    globals().update(cases_with("backend", TESTS / "conformance" / f"{word}_test.py"))
