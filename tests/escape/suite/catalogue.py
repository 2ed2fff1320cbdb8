# Every case of the suite. A module that has cases is named here, and says them by cases().
import descriptor_cases
import git_ways
import host_files
import loopback
import names
import network
import outer_repository
import programs
import questions
import tracked_files

MODULES = [programs, names, host_files, git_ways, tracked_files, outer_repository, descriptor_cases, loopback,
           questions, network]


def every():
    """In the order of the table; each key once."""
    found = [case for module in MODULES for case in module.cases()]
    keys = [case.key for case in found]
    assert len(set(keys)) == len(keys), sorted(key for key in keys if keys.count(key) > 1)
    return found


def chosen(cases, filters):
    """Those with one of the words in their names or kinds; all without words."""
    return [case for case in cases if not filters or any(word in case.key or word == case.kind for word in filters)]
