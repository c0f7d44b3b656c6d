"""What people already use, under its own names: the tutorial's class, the metrics function, plain functions.

    AttentionRollout, compare_discard_ratios, compare_head_fusion      the class of the tutorial and its figures
    compute_attention_attribution, ICLRMetrics                         eight numbers on a model's batch; needs torch
    attention_rollout, attention_flow                                  functions that return arrays
"""
from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from .functions import attention_flow, attention_rollout
from .tutorial import AttentionRollout, compare_discard_ratios, compare_head_fusion

if TYPE_CHECKING:
    from .iclr_metrics import ICLRMetrics, compute_attention_attribution

__all__ = ["AttentionRollout", "ICLRMetrics", "attention_flow", "attention_rollout", "compare_discard_ratios",
           "compare_head_fusion", "compute_attention_attribution"]


if not TYPE_CHECKING:  # type checkers know all names, and find those that are misspelt
    def __getattr__(name):
        if name in ("ICLRMetrics", "compute_attention_attribution"):  # imports torch
            return getattr(importlib.import_module(".iclr_metrics", __name__), name)
        raise AttributeError(f"module 'headwater.compat' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
