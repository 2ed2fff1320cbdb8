# What the suites of attacks have in common.
import internet as internets


def pytest_collection_modifyitems(config, items):
    """The attacks on the gateway are many and wait a lot; those on the walls are all tried by everybody."""
    attacks = [item for item in items if item.path.name == "network_test.py"]
    kept = list(attacks)
    internets.leave_pairs(config, kept)
    items[:] = [item for item in items if item not in attacks or item in kept]
