"""The package as it is installed: what importing costs, what it types, the command beside it."""
import inspect
import pydoc
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import softmax_rows

import headwater as hw
from headwater import _engine

COMMAND = Path(sys.executable).with_name("headwater")


def test_importing_it_imports_no_torch():
    words = "import sys, headwater; print({'torch', 'transformers', 'matplotlib', 'pandas'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_every_name_that_it_lists_is_there():
    for name in hw.__all__:
        assert getattr(hw, name) is not None
    assert set(dir(hw)) == set(hw.__all__)
    with pytest.raises(AttributeError, match="rolout"):
        hw.rolout


def test_every_function_and_class_is_documented():
    for name in hw.__all__:
        value = getattr(hw, name)
        if callable(value):
            assert (value.__doc__ or "").strip(), name


def public():
    """Every public function, and every public method of a public class."""
    for name in hw.__all__:
        value = getattr(hw, name)
        if inspect.isfunction(value):
            yield name, value
        elif inspect.isclass(value) and value.__module__.startswith("headwater."):
            for method, function in inspect.getmembers(value, inspect.isfunction):
                if not method.startswith("_") and function.__module__.startswith("headwater."):
                    yield f"{name}.{method}", function


def test_help_shows_every_keyword_and_says_what_it_is_for():
    for name, function in public():
        signature = inspect.signature(function)
        kinds = {parameter.kind for parameter in signature.parameters.values()}
        assert not kinds & {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}, name
        assert (function.__doc__ or "").strip(), name
        assert signature.return_annotation is not inspect.Signature.empty, name
    text = pydoc.plain(pydoc.render_doc(hw.rollout))
    assert "row: Row | None = None" in text and "-> Attribution" in text  # without quotes
    assert all(f"{word}:" in text for word in ("residual", "discard", "layers", "row", "attention_mask", "item"))


def test_signatures_say_what_goes_in_and_what_comes_out():
    for name, function in public():
        signature = inspect.signature(function)
        kinds = {word: str(one.annotation) for word, one in signature.parameters.items() if word != "self"}
        unknown = [word for word, kind in kinds.items() if re.search(r"\bAny\b", kind)]
        assert not unknown and str(signature.return_annotation) != "Any", (name, unknown)


@pytest.mark.parametrize("count", [0, -1, 1025, 10**12, "2", 1.5, None])
def test_set_threads_refuses_what_is_no_number_of_threads(count):
    before = hw.threads()
    with pytest.raises(hw.Error, match="expected 1 to 1024"):
        hw.set_threads(count)
    assert hw.threads() == before


def test_the_keywords_that_help_shows_are_taken(stack):
    shown = inspect.signature(hw.rollout).parameters
    assert hw.rollout(stack, **{name: one.default for name, one in shown.items() if name != "attention"}).shape == (6, 6)


def test_a_capture_shows_only_what_is_for_callers():
    methods = {"average", "compare", "encoder_decoder", "flow", "generation", "gradient", "heads", "layers", "maps", "metrics",
               "raw", "relevance", "rollout", "stacks"}
    assert {name for name in dir(hw.Capture) if not name.startswith("_")} == methods
    assert {name for name in vars(hw.Capture(torch.nn.Linear(1, 1))) if not name.startswith("_")} == {"how", "model"}


@pytest.mark.parametrize("first", ["headwater.encoder_decoder", "headwater.torch", "headwater.compat",
                                   "headwater.torch.capturing"])
def test_names_at_the_top_are_the_same_whatever_is_imported_first(first):
    words = (f"import importlib; importlib.import_module('{first}'); import headwater as hw; from headwater import torch\n"
             "assert callable(hw.encoder_decoder) and callable(hw.capture) and callable(hw.AttentionRollout)\n"
             "assert hw.compat.AttentionRollout is hw.AttentionRollout and hw.torch.capture is hw.capture is torch.capture")
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_stub_is_the_one_that_nanobind_makes(tmp_path):
    out = tmp_path / "_engine.pyi"
    subprocess.run([sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "headwater._engine", "-o", out], check=True)
    shipped = Path(hw.__file__).with_name("_engine.pyi")
    assert out.read_text() == shipped.read_text(), "make it anew: python -m nanobind.stubgen -m headwater._engine"
    assert Path(hw.__file__).with_name("py.typed").exists()


def test_arrays_in_signatures_say_what_they_are():
    assert "dtype=float32" in _engine.attention_map.__doc__ and "device='cpu'" in _engine.attention_map.__doc__


def test_the_command_is_installed_beside_python_and_has_the_same_version():
    done = subprocess.run([COMMAND, "--version"], capture_output=True, text=True, check=True)
    assert hw.__version__ in done.stdout
    assert re.fullmatch(r"\d+\.\d+\.\d+", hw.__version__)


def test_the_command_finds_the_models_of_its_package(tmp_path):
    done = subprocess.run([COMMAND, "info", "verb-number", "-o", "-"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert subprocess.run([COMMAND, "rollout"], capture_output=True).returncode == 2, "its exit status comes through"


def test_errors_are_value_errors_of_the_package():
    assert issubclass(hw.Error, ValueError) and f"{hw.Error.__module__}.{hw.Error.__name__}" == "headwater.Error"


def test_other_threads_run_while_the_engine_works():
    """Ticks that a thread makes while a flow is computed, which would be none if the lock were held."""
    layers = softmax_rows((6, 1, 200, 200), sharp=4.0)
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        begun = time.perf_counter()
        hw.flow(layers)
        ended = time.perf_counter()
    finally:
        done.set()
        thread.join()
    inside = [moment for moment in ticks if begun < moment < ended]
    assert len(inside) >= 2


def test_threads_do_not_change_a_byte(stack):
    count = hw.threads()
    try:
        hw.set_threads(1)
        one = hw.rollout(stack).values.tobytes()
        hw.set_threads(3)
        assert hw.rollout(stack).values.tobytes() == one
    finally:
        hw.set_threads(count)


def test_models_that_ship_are_installed_and_run_by_name():
    installed = Path(hw.__file__).resolve().parent / "share/headwater/models"
    assert hw.models() and {path.parent for path in hw.models().values()} == {installed}
    result = hw.run("verb-number", "The keys to the cabinet")
    assert "keys" in " ".join(result.tokens) and np.allclose(result.values.sum(-1), 1, atol=1e-5)
    assert len(hw.run("verb-number", ["The keys", "The key to the doors"], row=0).tokens) == 2
    written = hw.generate("facts", "the", count=2)
    assert written.M.shape[:2] == (len(written.generated), len(written.prompt))


def test_a_model_directory_runs_without_torch(tmp_path):
    words = f"""
import sys, headwater as hw
result = hw.run({str(tmp_path)!r}, ids=[5, 6, 7, 8], row=0)
assert result.values.shape == (4,) and 'torch' not in sys.modules
batch = hw.run({str(tmp_path)!r}, ids=[5, 6], method='flow')
print(result.values.tolist())
"""
    import torch
    from models import TEXT, make
    model = make(*TEXT["bert"])
    model.save_pretrained(tmp_path)
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with torch.no_grad():
        layers = model(input_ids=torch.tensor([[5, 6, 7, 8]]), output_attentions=True).attentions
    assert np.allclose(eval(done.stdout), hw.rollout(layers, row=0).values.numpy(), atol=1e-4)


def test_gradients_of_a_model_directory_equal_those_of_a_capture(tmp_path):
    import torch
    from models import SIZES, make
    model = make("BertForSequenceClassification", "BertConfig", dict(SIZES, num_labels=3))
    model.save_pretrained(tmp_path)
    with hw.capture(model) as seen:
        model(input_ids=torch.tensor([[5, 6, 7, 8]]))
    for rule in ("gradient", "gradient-rollout", "chefer"):
        ours = hw.gradient(str(tmp_path), ids=[5, 6, 7, 8], target=2, rule=rule)
        theirs = seen.gradient(2, rule=rule)
        assert np.abs(ours.values - theirs.values.numpy()).max() < 1e-4 * float(theirs.values.max())
