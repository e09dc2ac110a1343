import signal

import pytest

from app.interrupts import Interrupts


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_first_signal_is_noted(signum: signal.Signals) -> None:
    before = signal.getsignal(signum)
    with Interrupts() as interrupts:
        assert interrupts.reason is None
        signal.raise_signal(signum)
    assert interrupts.reason == signum.name
    assert signal.getsignal(signum) is before


def test_a_second_ctrl_c_kills() -> None:
    killed: list[bool] = []
    with Interrupts() as interrupts:
        interrupts.kill = lambda: killed.append(True)
        signal.raise_signal(signal.SIGTERM)
        assert not killed
        signal.raise_signal(signal.SIGINT)
    assert killed == [True]
    assert interrupts.killed


def test_a_closing_terminal_may_say_so_twice() -> None:
    with Interrupts() as interrupts:
        interrupts.kill = lambda: pytest.fail("killed")
        signal.raise_signal(signal.SIGHUP)
        signal.raise_signal(signal.SIGHUP)
    assert not interrupts.killed


def test_before_there_is_anything_to_kill_a_second_ctrl_c_breaks_off() -> None:
    with Interrupts():
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_a_signal_that_nohup_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Interrupts() as interrupts:
            signal.raise_signal(signal.SIGHUP)
        assert interrupts.reason is None
    finally:
        signal.signal(signal.SIGHUP, before)
