# What is said of the network of every backend, said of machines: what can be reached, and what a program is told.
"""A few of them in each run, all with ./dev test --all."""

import daemons
import harness
import host_image
import internet as internets
import pytest
import same_cases

# A machine's card has no IPv6, and takes datagrams that then go nowhere; its proxy is at 10.0.2.2; its addresses are
# QEMU's; it is shown no file of the host's, as an authority's would be.
OTHERWISE = {"test_each_proxy", "test_a_refused_name_by_socks", "test_an_allowed_name_over_tls",
             "test_a_name_that_has_ipv6_alone", "test_an_ipv6_address", "test_its_own_loopback_is_its_own",
             "test_udp_other_than_dns_has_no_way_out"}
QUICK = {"test_an_allowed_name", "test_a_refused_name_by_dns", "test_a_refused_address",
         "test_a_denied_name_beats_an_allowed_one"}


globals().update(same_cases.with_argument("hutch", same_cases.TESTS / "network/reach_test.py", OTHERWISE, QUICK))


@pytest.fixture
def as_user(base):
    return base.person(harness.PEOPLE[-1])


@pytest.fixture(scope="module")
def internet(base):
    with internets.running(base.unused("internet-of-machines")) as made:
        yield made


@pytest.fixture(scope="module")
def provisioned(base, root_archive):
    """A state in which machines have Python and curl."""
    made = daemons.Daemon(base, base.person(harness.PEOPLE[-1]))
    root = host_image.archive(base.unused("curl-root.tar"), ["curl"])
    root.chmod(0o644)
    made("vm", "provision", "--root", str(root), timeout=300).ok()
    yield made.state
    made.stop()


class Hutch(internets.NetHutch):
    """hutch in the internet's near namespace, whose runs are machines."""

    def __init__(self, state, *others):
        super().__init__(*others, "vm")
        self.state = state

    def __call__(self, *args, **options):
        return super().__call__(*args, **{"timeout": 120, **self.with_state(options)})

    def popen(self, *command, **options):
        return super().popen(*command, **self.with_state(options))

    def with_state(self, options):
        return {**options, "env": {"HUTCH_STATE": str(self.state), **(options.get("env") or {})}}


@pytest.fixture
def hutch(provisioned, internet, base, as_user, project):
    internet.forget()
    return Hutch(provisioned, internet, base, as_user, project)
