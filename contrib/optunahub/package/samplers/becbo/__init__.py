"""BECBO for OptunaHub."""

from .sampler import BECBOSampler

__all__ = ["BECBOSampler"]
