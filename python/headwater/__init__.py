"""headwater traces the output of a transformer back to its input tokens.

    import headwater as hw
    hw.rollout(outputs.attentions, row=0)          # what transformers returns; also NumPy, lists, a path
    with hw.capture(model) as seen:                # any PyTorch or Hugging Face model, under sdpa or flash
        model(**inputs)
    seen.rollout(row=-1)

Importing headwater does not import torch. `headwater.torch` has captures, `headwater.compat` what people already use.
See docs/python.md.
"""
from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from ._engine import version
from .encoder_decoder import EncoderDecoder, encoder_decoder
from .errors import Error
from .evaluation import Evaluation, evaluate
from .generated import Generation, generate, generate_all, generation
from .machine import set_threads, threads
from .methods import average, compare, flow, gradient, info, metrics, raw, relevance, rollout, run
from .result import Attribution, Comparison, Metrics
from .source import Source, models, open

if TYPE_CHECKING:
    from . import compat, torch
    from .compat import (AttentionRollout, ICLRMetrics, attention_flow, attention_rollout, compare_discard_ratios,
                         compare_head_fusion, compute_attention_attribution)
    from .convert import (attention_from_inseq, attention_from_transformer_lens, bertviz_arguments, captum_records,
                          to_pandas, to_parquet, word_attributions)
    from .data.attributor import Attributor
    from .data.gather import summarise
    from .data.read import read
    from .data.summary import DataSummary
    from .dataset import Summary, metrics_over
    from .serving import Server, serve
    from .torch import Capture, capture
    from .framing import View, view

__version__ = version()

# name: the module that has it, imported when it is first used
_LAZY = {
    "capture": "torch", "Capture": "torch",
    "AttentionRollout": "compat", "compare_discard_ratios": "compat", "compare_head_fusion": "compat",
    "ICLRMetrics": "compat", "compute_attention_attribution": "compat",
    "attention_rollout": "compat", "attention_flow": "compat",
    "metrics_over": "dataset", "Summary": "dataset", "Attributor": "data.attributor", "read": "data.read",
    "DataSummary": "data.summary", "summarise": "data.gather",
    "serve": "serving", "Server": "serving", "view": "framing", "View": "framing",
    "bertviz_arguments": "convert", "captum_records": "convert", "word_attributions": "convert",
    "attention_from_inseq": "convert", "attention_from_transformer_lens": "convert", "to_pandas": "convert",
    "to_parquet": "convert",
}

__all__ = ["AttentionRollout", "Attribution", "Attributor", "Capture", "Comparison", "DataSummary", "EncoderDecoder",
           "Error", "Evaluation", "Generation", "ICLRMetrics", "Metrics", "Server", "Source", "Summary", "View",
           "__version__", "attention_flow", "attention_from_inseq", "attention_from_transformer_lens",
           "attention_rollout", "average", "bertviz_arguments", "captum_records", "capture", "compare",
           "compare_discard_ratios", "compare_head_fusion", "compat", "compute_attention_attribution",
           "encoder_decoder", "evaluate", "flow", "generate", "generate_all", "generation", "gradient", "info", "metrics",
           "metrics_over", "models", "open", "raw", "read", "relevance", "rollout", "run", "serve", "set_threads",
           "summarise", "threads", "to_pandas", "to_parquet", "torch", "view", "word_attributions"]


if not TYPE_CHECKING:  # type checkers know all names, and find those that are misspelt
    def __getattr__(name):
        if name in ("compat", "torch"):
            return importlib.import_module(f".{name}", __name__)
        if name in _LAZY:
            value = getattr(importlib.import_module(f".{_LAZY[name]}", __name__), name)
            globals()[name] = value
            return value
        raise AttributeError(f"module 'headwater' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
