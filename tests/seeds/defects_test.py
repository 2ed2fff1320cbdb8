# The defects B1 to B7 and D1 to D15 that people of the five systems met: where the case is that would fail again.
"""Those without a case in this folder; the others have the number in their name here."""

import ast

import pytest

import sources

ELSEWHERE = {
    "B2": ("container/pool_test.py", "test_the_engine_holds_the_usual_limits_for_everybody"),
    "D1": ("clients/pi_closed_test.py", "test_the_sources_installed_by_pi_itself"),
    "D2": ("clients/clients_test.py", "test_the_client_is_installed_without_a_registry"),
    "D3": ("clients/mastra_life_test.py", "test_it_goes_on_or_says_what_to_do"),
    "D4": ("clients/mastra_life_test.py", "test_a_daemon_that_left_because_it_was_idle_is_started_again"),
    "D6": ("e2e/os_user_programs_test.py", "test_programs_below_tmp_start_an_agent"),
    "D9": ("clients/pi_test.py", "test_questions_are_asked_in_its_own_dialogs"),
    "D10": ("clients/coding_agents_test.py", "test_it_works_and_reaches_nothing_else"),
    "D14": ("http/sessions_test.py", "test_an_answer_for_all_projects_leaves_the_first_policy_be"),
}
EVERY = [f"B{number}" for number in range(1, 8)] + [f"D{number}" for number in range(1, 16)]


def cases(file):
    return {node.name for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("defect", EVERY)
def test_it_has_a_case(defect):
    tests = sources.ROOT / "tests"
    if defect in ELSEWHERE:
        file, name = ELSEWHERE[defect]
        assert name in cases(tests / file)
        return
    word = f"_{defect.lower()}_"
    assert any(word in f"{name}_" for file in (tests / "seeds").glob("*_rows_test.py") for name in cases(file))
