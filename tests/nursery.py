"""A process that has imported what takes seconds, and forks itself for each stage to be killed."""

import subprocess

# Ends the source of such a process, which defines child(words): what a fork does before it exits.
LOOP = """
for line in sys.stdin:
    order, *words = line.split()
    if order == "wait":
        print(os.waitstatus_to_exitcode(os.waitpid(int(words[0]), 0)[1]), flush=True)
    elif pid := os.fork():
        print(pid, flush=True)
    else:
        os.dup2(2, 1)  # what a stage prints is no answer
        child(words)
"""


def asked(process: subprocess.Popen, *words: object) -> int:
    """The answer to `start …`, a process id, or to `wait PID`, an exit code."""
    assert process.stdin
    assert process.stdout
    process.stdin.write(" ".join(map(str, words)) + "\n")
    process.stdin.flush()
    return int(process.stdout.readline())
