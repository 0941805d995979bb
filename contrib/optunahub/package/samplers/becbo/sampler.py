"""The sampler itself lives in the package becbo, see requirements.txt."""

from becbo.optuna import BECBOSampler

__all__ = ["BECBOSampler"]
