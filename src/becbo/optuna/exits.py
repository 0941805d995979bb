"""How a program that ran an experiment ended: by its exit code, and by what the cluster says."""

from __future__ import annotations

from becbo.checks import whole_number
from becbo.errors import InvalidInput
from becbo.trial import Outcome

# Signals of a program that did something wrong, or took more than it was allowed to: ILL, TRAP,
# ABRT, BUS, FPE, SEGV, XCPU, XFSZ and SYS, with the numbers of Linux, where clusters run.
_CRASHES = frozenset((4, 5, 6, 7, 8, 11, 24, 25, 31))
_LAST_SIGNAL = 64
_NOT_STARTED = (126, 127)  # not executable, not found
# What SLURM calls the state of a job and Kubernetes the reason of a container or pod.
_STATES = {
    "OUT_OF_MEMORY": Outcome.FAILED,
    "OUT_OF_ME": Outcome.FAILED,  # and a "+": the ten characters that sacct shows of it
    "TIMEOUT": Outcome.FAILED,
    "BOOT_FAIL": Outcome.LOST,
    "CANCELLED": Outcome.LOST,
    "DEADLINE": Outcome.LOST,
    "NODE_FAIL": Outcome.LOST,
    "PREEMPTED": Outcome.LOST,
    "REQUEUED": Outcome.LOST,
    "REVOKED": Outcome.LOST,
    "OOMKilled": Outcome.FAILED,
    "DeadlineExceeded": Outcome.FAILED,
    "ContainerCannotRun": Outcome.LOST,
    "ContainerStatusUnknown": Outcome.LOST,
    "Evicted": Outcome.LOST,
    "NodeLost": Outcome.LOST,
    "NodeShutdown": Outcome.LOST,
    "Preempting": Outcome.LOST,
    "Terminated": Outcome.LOST,
}


def exit_outcome(code: int, state: str | None = None) -> Outcome:
    """Tells a design that does not work from a run that says nothing about it.

    Out of memory, out of time and crashes are failures of the design. Being preempted, cancelled
    or killed is not, nor is a program that could not be started. A program that was killed without
    a state (SIGKILL) counts as lost: if memory may be the cause, give the state.

    Args:
        code: the exit code: of `subprocess`, where -9 is a signal, or of a shell, where it is 137.
        state: what the cluster says about the run, if it does: a state of SLURM (`sacct -o State`),
            whole or cut, or the reason of a container or pod of Kubernetes.

    Returns:
        `Outcome.OK`, `Outcome.FAILED` or `Outcome.LOST`.

    Raises:
        InvalidInput: if the code is not a whole number, or the state is not a string.

    Examples:
        >>> exit_outcome(139)  # a segmentation fault
        <Outcome.FAILED: 'failed'>
        >>> exit_outcome(137, "OOMKilled"), exit_outcome(143, "PREEMPTED")
        (<Outcome.FAILED: 'failed'>, <Outcome.LOST: 'lost'>)
    """
    code = whole_number("exit code", code, at_least=-(2**31))
    if not isinstance(state, str | None):
        raise InvalidInput(f"state {state!r} must be a string, such as 'PREEMPTED', or None")
    # "CANCELLED by 1000", which sacct cuts to "CANCELLED+".
    word = state.split()[0].removesuffix("+") if state and state.strip() else ""
    if word in _STATES:
        return _STATES[word]
    if code == 0:
        return Outcome.OK
    number = -code if code < 0 else code - 128
    if code in _NOT_STARTED or (0 < number <= _LAST_SIGNAL and number not in _CRASHES):
        return Outcome.LOST
    return Outcome.FAILED
