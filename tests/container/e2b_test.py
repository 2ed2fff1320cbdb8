# /home/user in sandboxes of E2B's clients that are containers.
import json

import api
import e2b


def test_home_user(daemon):
    templates = {"boxed": {"backend": "container", "image": "hutch-tests:latest"}}
    daemon.person.write(daemon.state / "config/templates.json", json.dumps(templates))
    daemon("agent", "list").ok()
    sandbox = e2b.Sandbox(api.OnSocket(daemon.socket), "boxed")
    e2b.expect_home(sandbox)
    sandbox.kill()
