"""Train a run.

Threads that wait for one another spin, and on a busy machine that takes the time of those that they
wait for: an epoch beside one other process took 19 times as long. Here they sleep after a moment.
"""

import os

os.environ.setdefault("GOMP_SPINCOUNT", "3000")  # libgomp reads it when torch is imported
