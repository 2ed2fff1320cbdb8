# /home/user in sandboxes of E2B's clients, on the backends that everybody has.
import pytest

import e2b


@pytest.mark.parametrize("template", ["base", "namespace", "bwrap"])
def test_home_user(api, template):
    sandbox = e2b.Sandbox(api, template)
    e2b.expect_home(sandbox)
    sandbox.kill()
