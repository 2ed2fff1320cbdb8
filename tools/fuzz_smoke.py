#!/usr/bin/env python3
# Runs one fuzz target for a few seconds from a copy of its corpus, as ctest's fuzz.smoke.NAME.
"""usage: fuzz_smoke.py TARGET CORPUS [SECONDS]"""

import os
import shutil
import subprocess
import sys
import tempfile


def main(argv):
    target, corpus = argv[1], argv[2]
    seconds = argv[3] if len(argv) > 3 else "3"
    with tempfile.TemporaryDirectory(prefix="hutch-fuzz-") as scratch:
        work = os.path.join(scratch, "corpus")
        shutil.copytree(corpus, work)
        command = [target, work, f"-max_total_time={seconds}", "-timeout=20", "-rss_limit_mb=2048",
                   f"-artifact_prefix={scratch}/crash-", "-print_final_stats=1"]
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if result.returncode != 0:
            sys.stdout.write(result.stdout.decode(errors="replace")[-8000:])
            for name in sorted(os.listdir(scratch)):
                if name.startswith("crash-"):
                    with open(os.path.join(scratch, name), "rb") as found:
                        print(f"input {name}: {found.read()[:4096]!r}")
            return 1
        sys.stdout.write(result.stdout.decode(errors="replace")[-600:])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
