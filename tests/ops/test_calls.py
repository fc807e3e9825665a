"""A command says that it goes on, and ends soon after Ctrl-C."""

import sys
import time

from ops import calls


def test_what_lasts_is_named_again_and_again_until_it_is_over_and_no_longer(monkeypatch, capsys):
    monkeypatch.setattr(calls, "SILENCE", 0.05)
    with calls.alive("a pull"):
        time.sleep(0.3)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) >= 2 and all(x.startswith("a pull … ") for x in lines)
    time.sleep(0.2)
    assert not capsys.readouterr().err


def test_a_command_that_goes_on_after_ctrl_c_is_killed_and_another_gives_what_it_wrote(monkeypatch):
    monkeypatch.setattr(calls, "GRACE", 0.2)
    done = calls.finish([sys.executable, "-c", "print('x' * 100_000); exit(3)"])
    assert (done.returncode, done.stdout, done.stderr) == (3, "x" * 100_000 + "\n", "")
    monkeypatch.setattr(calls, "INTERRUPTS", [2])
    began = time.monotonic()
    assert calls.finish([sys.executable, "-c", "import time; time.sleep(60)"]).returncode
    assert time.monotonic() - began < 5
