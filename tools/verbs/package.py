# ./dev package: a Debian package of the release build.
HELP = "make build/hutch_VERSION_ARCH.deb from the release build"
USAGE = "usage: ./dev package"


def run(arguments):
    return 1
