#!/bin/bash
# Sixteen workers on a SLURM cluster, on one study in PostgreSQL:
#
#   sbatch --export=ALL,BECBO_STORAGE=postgresql://me:secret@dbhost/studies slurm_array.sh
#
# SLURM sends SIGTERM two minutes before the end or a preemption: a worker then finishes its trial
# and stops. A trial that does not end in time is lost, and another worker repeats its design.
# Submit again at any time: the study goes on until it has 400 trials.
#SBATCH --job-name=becbo
#SBATCH --array=1-16
#SBATCH --ntasks=2
#SBATCH --mem-per-cpu=5G
#SBATCH --time=08:00:00
#SBATCH --signal=B:TERM@120
#SBATCH --requeue
#SBATCH --output=worker-%A-%a.log

export OPENBLAS_NUM_THREADS=1
# exec: the signal goes to the worker, not to this shell.
exec becbo worker --study wing --objective simulation:run --direction maximize --trials 400
