"""headwater: where an output of a transformer comes from.

    import headwater as hw
    hw.rollout(outputs.attentions, row=0)          # what transformers returns, as it is; also NumPy, lists, a path
    with hw.capture(model) as seen:                # any PyTorch or Hugging Face model, sdpa or flash
        model(**inputs)
    seen.rollout(row=-1)

Importing this imports no torch. docs/python.md has all of it.
"""
from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._engine import Error, __version__, set_threads, threads
from .methods import average, compare, flow, gradient, info, metrics, raw, rollout, run
from .result import Attribution, Comparison, Metrics
from .source import Source, models, open

if TYPE_CHECKING:
    from .capturing import Capture, capture
    from .convert import (attention_from_inseq, attention_from_transformer_lens, bertviz_arguments, captum_records,
                          to_pandas, to_parquet, word_attributions)
    from .dataset import Summary, metrics_over
    from .trios import EncoderDecoder, encoder_decoder
    from .functions import attention_flow, attention_rollout
    from .generated import Generation, generate, generation
    from .iclr_metrics import ICLRMetrics, compute_attention_attribution
    from .tutorial import AttentionRollout, compare_discard_ratios, compare_head_fusion

# name: the module that has it, imported when it is first asked for
_LAZY = {
    "capture": "capturing", "Capture": "capturing",
    "AttentionRollout": "tutorial", "compare_discard_ratios": "tutorial", "compare_head_fusion": "tutorial",
    "ICLRMetrics": "iclr_metrics", "compute_attention_attribution": "iclr_metrics",
    "attention_rollout": "functions", "attention_flow": "functions",
    "generation": "generated", "Generation": "generated", "generate": "generated",
    "encoder_decoder": "trios", "EncoderDecoder": "trios",
    "metrics_over": "dataset", "Summary": "dataset",
    "bertviz_arguments": "convert", "captum_records": "convert", "word_attributions": "convert",
    "attention_from_inseq": "convert", "attention_from_transformer_lens": "convert", "to_pandas": "convert",
    "to_parquet": "convert",
}

__all__ = ["Attribution", "Comparison", "Error", "Metrics", "Source", "__version__", "average", "compare", "flow",
           "gradient", "info", "metrics", "models", "open", "raw", "rollout", "run", "set_threads", "threads", *_LAZY]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        value = getattr(importlib.import_module(f".{_LAZY[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'headwater' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
