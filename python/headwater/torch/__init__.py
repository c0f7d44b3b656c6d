"""PyTorch: attention of a running model (`capture`), and the methods on a GPU. Importing this imports torch."""
from .capturing import Capture, capture

__all__ = ["Capture", "capture"]
