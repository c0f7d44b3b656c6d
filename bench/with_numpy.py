"""NumPy in float32: the same steps, written as one writes them in NumPy."""
import numpy as np

from in_process import InProcess


class NumPy(InProcess):
    name = "numpy"

    def __init__(self, attention):
        self.layers = attention

    def full(self, discard):
        rolled = None
        for heads in self.layers:
            matrix = (heads.mean(axis=0) + np.eye(heads.shape[-1], dtype=np.float32)) / 2
            matrix /= matrix.sum(axis=1, keepdims=True)
            if discard > 0:
                rank = int(matrix.size * discard)
                matrix[matrix < np.partition(matrix, rank, axis=None)[rank]] = 0
                matrix /= matrix.sum(axis=1, keepdims=True)
            rolled = matrix if rolled is None else matrix @ rolled
        return rolled

    @staticmethod
    def about():
        blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
        return f"numpy {np.__version__} ({blas['name']} {blas['version']})"
