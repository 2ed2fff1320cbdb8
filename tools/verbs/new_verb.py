# ./dev new-verb NAME: the files of a new command, with tests, that build.
HELP = "start a new command: src/cli/NAME.cc, src/service/NAME.{h,cc} and tests that build"
USAGE = "usage: ./dev new-verb NAME"


def run(arguments):
    return 1
