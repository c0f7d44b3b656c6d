"""PyTorch as people run it today: the tutorial's class on tensors in memory."""
import sys
from pathlib import Path

import torch

from in_process import InProcess

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests/python"))
from tutorial import AttentionRollout


class Torch(InProcess):
    name = "torch"

    def __init__(self, attention, threads):
        torch.set_num_threads(threads)
        self.layers = [torch.from_numpy(layer) for layer in attention]

    @torch.no_grad()
    def full(self, discard):
        return AttentionRollout(discard_ratio=discard).compute_rollout(self.layers).numpy()

    @staticmethod
    def about():
        blas = [line.strip(" -") for line in torch.__config__.show().splitlines() if "Math Kernel" in line]
        settings = torch.__config__.show().split("Build settings:")[-1]
        used = [word for word in settings.split(", ") if word.strip().startswith("BLAS_INFO")]
        return f"torch {torch.__version__} ({'; '.join(blas + [word.strip() for word in used])})"
