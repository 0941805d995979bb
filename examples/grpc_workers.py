"""Workers behind a gRPC proxy of Optuna: only the proxy talks to the database.

    pip install 'becbo[optuna]' grpcio protobuf
    python examples/grpc_workers.py serve study.db 13000    # once, beside the database
    python examples/grpc_workers.py work 13000 40           # as often as you like, on any machine

A proxy has no heartbeat, so the sampler takes trials that run for more than an hour for lost. The
workers do not take turns: the last of them may start a few trials more than the study needs.
"""

import sys
import warnings

import optuna
from optuna.storages import GrpcStorageProxy, run_grpc_proxy_server
from optuna.study import MaxTrialsCallback

from becbo.optuna import BECBOSampler, marking, open_storage

warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)


@marking
def objective(trial):
    x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
    if x + y > 1.2:
        raise ArithmeticError("diverged")
    return -x - y


def serve(where, port):
    run_grpc_proxy_server(open_storage(where, heartbeat=None), host="localhost", port=port)


def work(port, n_trials):
    storage = GrpcStorageProxy(host="localhost", port=port)
    storage.wait_server_ready(timeout=60)
    study = optuna.create_study(
        study_name="grpc",
        storage=storage,
        load_if_exists=True,
        sampler=BECBOSampler(stale_after=3600),
    )
    states = (optuna.trial.TrialState.COMPLETE, optuna.trial.TrialState.FAIL)
    enough = MaxTrialsCallback(n_trials, states=states)
    study.optimize(objective, callbacks=[enough], catch=(ArithmeticError,))
    print(f"{len(study.trials)} trials, best {study.best_value:.4f}")


if __name__ == "__main__":
    role, *arguments = sys.argv[1:]
    if role == "serve":
        serve(arguments[0], int(arguments[1]))
    else:
        work(int(arguments[0]), int(arguments[1]))
