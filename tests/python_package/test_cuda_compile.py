"""The kernels for NVIDIA's GPUs compile for every chip. NVRTC needs no GPU for that, so every machine sees errors."""
import re

import pytest

import headwater as hw
from headwater import _engine
from headwater.torch import kernels

CHIPS = ("sm_80", "sm_90a", "sm_100")
PLAIN = ("VECTOR=1", "EXTRA=0", "WARPS=4")
ALL = ("VECTOR=0", "EXTRA=1", "WARPS=4")
ROW = [("ELEMENT=0", "SIZE=128", *PLAIN, "ROWS=1", "FUSE=0", "STAY=0"),
       ("ELEMENT=1", "SIZE=33", *ALL, "ROWS=2", "FUSE=1", "STAY=0"),
       ("ELEMENT=2", "SIZE=64", *PLAIN, "ROWS=1", "FUSE=2", "STAY=1")]
SUMS = [("ELEMENT=0", "SIZE=33", *ALL), ("ELEMENT=2", "SIZE=64", *PLAIN)]
MAP = [("ELEMENT=0", "SIZE=128", "VECTOR=1", "EXTRA=0", "WARPS=8", "FUSE=0", "PAIRS=0"),
       ("ELEMENT=0", "SIZE=128", "VECTOR=1", "EXTRA=0", "WARPS=8", "FUSE=0", "PAIRS=1"),
       ("ELEMENT=2", "SIZE=33", *ALL, "FUSE=1", "PAIRS=0")]
HOPPER = [("ELEMENT=0", "SIZE=128", "ROWS=1", "TILE=128", "STAGES=4"),
          ("ELEMENT=1", "SIZE=64", "ROWS=8", "TILE=64", "STAGES=4")]
CASES = [(chip, "row.cu", one) for chip in CHIPS for one in ROW] + \
    [(chip, "log_sum_exp.cu", one) for chip in CHIPS for one in SUMS] + \
    [(chip, "map.cu", one) for chip in CHIPS for one in MAP] + \
    [(chip, "total.cu", ()) for chip in CHIPS] + \
    [("sm_90a", "row_hopper.cu", one) for one in HOPPER] + \
    [("sm_90a", "product_hopper.cu", ("STAGES=3", f"PAIRS={pairs}")) for pairs in (0, 1)]


@pytest.fixture(scope="module", autouse=True)
def nvrtc():
    """PyTorch for Linux brings it, and so does nvidia-cuda-nvrtc in tools/requirements.txt."""
    _engine.cuda_look_for_compiler(kernels.compiler_paths())
    try:
        return _engine.cuda_compiler()
    except hw.Error as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize("chip, source, defines", CASES, ids=lambda one: " ".join(one) if isinstance(one, tuple) else one)
def test_a_kernel_compiles(chip, source, defines):
    code = _engine.cuda_compile(source, chip, list(defines))
    assert code[:4] == b"\x7fELF" and source.removesuffix(".cu").encode() in code


def test_a_kernel_that_does_not_compile_is_a_sentence_with_the_compilers_words():
    with pytest.raises(hw.Error, match=r"row.cu \(SIZE=64\) does not compile for sm_80: tile.cuh.*error: identifier"):
        _engine.cuda_compile("row.cu", "sm_80", ["SIZE=64"])
    with pytest.raises(hw.Error, match="there is no source 'column.cu'"):
        _engine.cuda_compile("column.cu", "sm_80", [])


def test_info_says_whose_kernels_run_and_why():
    gpu = hw.info()["gpu"]
    assert gpu["kernels"] in ("headwater", "torch", "none") and re.match(r"\S.*\S$", gpu["why"])


def test_a_machine_without_a_driver_says_so():
    ready, why = _engine.cuda_status(0)
    if ready:
        pytest.skip("this machine has a driver and a GPU")
    assert why.startswith("NVIDIA's driver: ") and "; " in why
