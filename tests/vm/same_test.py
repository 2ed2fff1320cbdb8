# What is said of every backend, said of machines: the same tests, from the folders that have them.
"""A few of them in each run, all with ./dev test --all: each command of `hutch run` is a machine of its own."""

import daemons
import harness
import pytest
import same_cases

# Of a machine the daemon has several processes, and its memory is at least 256M.
OTHERWISE = {"test_concurrent_starts_are_one", "test_json_says_how_limits_are_held",
             # The directory in which hutch runs is not there.
             "test_a_file_that_is_no_program_is_126", "test_a_script_without_an_interpreter_line_runs_in_sh",
             "test_the_command_is_looked_up_in_path", "test_a_closed_output_does_not_end_the_command",
             "test_a_file_never_enters_as_a_descriptor",
             # What crosses is read ahead, and each output by itself (docs/vm.md).
             "test_what_was_not_read_of_a_file_is_given_back", "test_both_outputs_in_one_file_keep_their_order",
             # It needs a fixture of that folder's own, and is about the caller's terminal.
             "test_typing_into_the_callers_terminal_is_refused"}
QUICK = {"test_pipes", "test_what_cannot_be_executed", "test_a_large_output_is_whole", "test_a_terminal",
         "test_what_a_command_leaves_running_goes_on", "test_attach_writes_and_reads", "test_links_within_the_home",
         "test_it_runs_streams_and_reports"}


globals().update(same_cases.of_agents_and_commands(OTHERWISE, QUICK))


@pytest.fixture
def as_user(base):
    return base.person(harness.PEOPLE[-1])


@pytest.fixture(scope="module")
def daemon(base, python_root):
    made = daemons.Daemon(base, base.person(harness.PEOPLE[-1]))
    made("vm", "provision", "--root", str(python_root), timeout=300).ok()
    yield made
    made.stop()


@pytest.fixture
def any_agent(daemon):
    name = daemon.create("backend=vm")
    daemon.sh(name, "true", timeout=180).ok()
    yield name
    daemon("agent", "remove", name).ok()


agent = any_agent


@pytest.fixture
def backend():
    return "vm"


class MachineHutch(harness.Hutch):
    """hutch whose runs are machines of what the daemon has provisioned."""

    def __init__(self, state, *others):
        super().__init__(*others, "vm")
        self.state = state

    def __call__(self, *args, **options):
        return super().__call__(*args, **self.with_state(options))

    def popen(self, *command, **options):
        return super().popen(*command, **self.with_state(options))

    def with_state(self, options):
        return {**options, "env": {**self.variables(), **(options.get("env") or {})}}

    def variables(self):
        return {"HUTCH_STATE": str(self.state)}


@pytest.fixture
def hutch(base, as_user, project, daemon, request):
    """As everywhere; a test that takes `backend` as well runs in machines."""
    if "backend" not in request.fixturenames:
        return harness.Hutch(base, as_user, project)
    return MachineHutch(daemon.state, base, as_user, project)
