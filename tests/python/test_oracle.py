"""The command's numbers against the oracle (NumPy, float64) and the tutorial's class (torch), on random combinations
of options, sizes, types and files. A failing seed says which."""
import json
from dataclasses import dataclass, field

import numpy as np
import pytest
import torch

import oracle
from attention import grid_rows, save, seen, softmax_rows, stored
from command import ask, run
from tutorial import AttentionRollout

BOUND = 2e-6  # float32 products of row-stochastic matrices; a float step at 1 is 1.2e-7


@dataclass
class Case:
    """One file and one command line, with what the oracle needs to answer the same."""
    words: list
    options: oracle.Options
    stacks: list  # for each item a list of [H, n, n], padding cropped
    tokens: list  # of each item
    padded: int
    layers: str = ":"
    row: str = "all"
    layer: int = -1
    notes: list = field(default_factory=list)


def close(found, expected):
    found, expected = np.asarray(found, np.float64), np.asarray(expected)
    assert found.shape == expected.shape
    error = np.abs(found - expected).max()
    assert error <= BOUND * max(1, np.abs(expected).max()), f"off by {error:.3g}"


def hinges_on_rounding(stack, options, layers):
    """True if an entry lies so near to a discard threshold that float32 and float64 may put it on different sides.

    The command fuses, mixes and divides in float32, so entries that are a hair apart in float64 may tie or change
    places. Exact zeros stay exact zeros; everything else needs a distance of 1e-6 from the threshold, itself apart."""
    if options.discard == 0:
        return False
    begin, end = oracle.layer_range(layers, len(stack))
    for heads in stack[begin:end]:
        matrix = oracle.fuse(heads, options.fuse)
        if options.order == "residual-first":
            matrix, _ = oracle.prepare(matrix, oracle.replace(options, discard=0.0))
        limit = oracle.threshold(matrix, options.discard)
        if limit > 0 and (np.abs(matrix - limit) < 1e-6 * limit).sum() > 1:
            return True
    return False


def random_options(random, heads, exact, presets):
    """Words of the command line and the record that they must give.

    On a grid only fusions that keep rows at a sum of exactly 1: all else up to the threshold is then exact, too."""
    preset = random.choice(presets)
    explicit = {}
    choices = {
        "fuse": ["mean", "max", "min", f"head:{random.integers(heads)}"] if not exact else ["mean", "head:0"],
        "residual": [0.0, 0.25, 0.5, 0.75],
        "discard": [0.0, 0.05, 0.1, 0.5, 0.9, 0.99],
        "order": ["residual-first", "discard-first"],
        "empty": ["identity", "zero"],
        "divide": ["always", "changed"],
    }
    for name, values in choices.items():
        if random.random() < 0.4:
            explicit[name] = values[random.integers(len(values))]
    words = ["--preset", preset]
    for name, value in explicit.items():
        words += ["--head", value[5:]] if name == "fuse" and value.startswith("head:") else [f"--{name}", value]
    return words, oracle.options_of(str(preset), **explicit)


def random_layers(random, count):
    begin = int(random.integers(count))
    end = int(random.integers(begin + 1, count + 1))
    texts = [":", f"{begin}:{end}", f"{begin}:", f":{end}", f"{begin - count}:", f":{end - count}" if end < count else ":"]
    return texts[random.integers(len(texts))]


def random_mask(random, items, n):
    """Not 0 = real; at least one token of each item is; with holes now and then."""
    mask = np.zeros((items, n), np.int64)
    for row in mask:
        real = random.integers(1, n + 1)
        row[:real] = 1
        if random.random() < 0.3:
            row[:] = random.random(n) < 0.7
            row[random.integers(n)] = 1
    return mask


def pad(arrays, mask, rubbish):
    """What models do with padding: nobody attends to it, and its own rows are whatever they are."""
    for array in arrays:
        for heads, real in zip(array, mask.astype(bool)):
            heads[:, :, ~real] = 0
            heads /= heads.sum(axis=-1, keepdims=True)
            heads[:, ~real] = rubbish


def random_axes(random, arrays, ending, items, vary):
    """The arrays with their axes in another order, and the words that say which."""
    letters = ("L" if not vary else "") + ("B" if items else "") + "Hnn"
    if ending not in (".npy", ".npz") or random.random() < 0.7:
        return arrays, ["--axes", letters] if items and not vary and random.random() < 0.5 else []
    order = random.permutation(len(letters)).tolist()
    rows, columns = len(letters) - 2, len(letters) - 1
    first, second = sorted((order.index(rows), order.index(columns)))
    order[first], order[second] = rows, columns
    return [a.transpose(order) for a in arrays], ["--axes", "".join(letters[k] for k in order)]


def random_case(random, folder, presets=tuple(oracle.PRESETS)):
    n = int(random.integers(1, 61))
    layer_count = int(random.integers(1, 7))
    ending = str(random.choice([".npy", ".npz", ".safetensors", ".json"]))
    dtype = str(random.choice(["f16", "bf16", "f32", "f64"]))
    masked = ending != ".npy" and dtype in ("f32", "f64") and random.random() < 0.4
    # Numbers of few bits tie so often that the threshold can only be judged where float32 is exact: on a grid.
    exact = dtype in ("f16", "bf16") or (not masked and random.random() < 0.3)
    heads = int(random.choice([1, 2, 4]) if exact else random.integers(1, 9))
    items = int(random.integers(1, 4)) if random.random() < 0.3 else 0
    vary = ending in (".npz", ".safetensors") and layer_count > 1 and random.random() < 0.7
    causal = not masked and random.random() < 0.3
    make = grid_rows if exact else softmax_rows

    words, options = random_options(random, heads, exact, presets)
    layers = random_layers(random, layer_count)
    mask = random_mask(random, items or 1, n) if masked else None
    while True:
        head_counts = [int(random.integers(heads, heads + 3)) if vary and not exact else heads
                       for _ in range(layer_count)]
        arrays = [make(random, (items or 1, h, n, n), causal) for h in head_counts]
        if mask is not None:
            pad(arrays, mask, 7.0 if ending == ".json" else np.nan)  # JSON knows no NaN
        arrays = [stored(a, dtype) for a in arrays]
        stacks = []
        for item in range(items or 1):
            real = np.arange(n) if mask is None else np.flatnonzero(mask[item])
            stacks.append([seen(a[item], dtype)[:, real][:, :, real] for a in arrays])
        if exact or not any(hinges_on_rounding(stack, options, layers) for stack in stacks):
            break

    if not items:
        arrays = [a[0] for a in arrays]
    arrays = arrays if vary else [np.stack(arrays)]
    arrays, axis_words = random_axes(random, arrays, ending, items, vary)
    tokens = [f"w{j}" for j in range(n)]
    tokens[random.integers(n)] = "[CLS]"
    has_tokens = ending != ".npy"
    path = save(folder / f"case{ending}", arrays, dtype, tokens if has_tokens else None,
                None if mask is None else mask if items else mask[0], compressed=bool(random.random() < 0.5),
                fortran=bool(random.random() < 0.3))
    if not has_tokens:
        (folder / "tokens.txt").write_text("\n".join(tokens))
        axis_words += ["--tokens", folder / "tokens.txt"]
    real = [range(n) if mask is None else np.flatnonzero(row) for row in (mask if mask is not None else [0] * len(stacks))]
    kept = [[tokens[j] for j in one] for one in real]
    return Case([path, *axis_words, *words, "--layers=" + layers, "--threads", random.integers(1, 4)], options, stacks,
                kept, n, layers)


def notes_of(emptied, options):
    if emptied == 0:
        return []
    what = "became identity rows (empty identity)" if options.empty == "identity" else "stayed zero (empty zero)"
    return [f"{emptied} row(s) had nothing to divide by and {what}"]


def read_npz(path, prefix=""):
    """What a .npz holds, as the JSON of the same result has it."""
    with np.load(path, allow_pickle=False) as arrays:
        out = {name.removeprefix(prefix): arrays[name] for name in arrays.files if name.startswith(prefix)}
    for name in ("options", "source"):
        out[name] = json.loads(str(out[name]))
    return out | {name: out[name].tolist() for name in ("tokens", "rows", "notes")}


def check_result(found, case, item, matrices, method, by_layer):
    begin, end = oracle.layer_range(case.layers, len(case.stacks[item]))
    rows = oracle.rows_of(case.row, case.tokens[item])
    expected = [oracle.take_rows(matrix, rows) for matrix in matrices]
    close(found["values"], expected if by_layer else expected[-1])
    assert found["method"] == method
    assert found["options"] == oracle.record(case.options, begin, end)
    assert found["rows"] == rows
    assert found["tokens"] == case.tokens[item]
    assert found["notes"] == case.notes
    assert found["source"]["tokens"] == len(case.tokens[item])
    if by_layer:
        assert list(found["by_layer"]) == list(range(begin, end))


@pytest.mark.parametrize("seed", range(240))
def test_command_gives_the_oracles_numbers(seed, tmp_path):
    random = np.random.default_rng(seed)
    case = random_case(random, tmp_path)
    by_layer = bool(random.random() < 0.2)
    method = str(random.choice(["rollout", "rollout", "rollout", "average"]))
    item = int(random.integers(len(case.stacks)))
    rows = ["all", "all", "mean", "last", "-1", str(random.integers(len(case.tokens[item])))]
    case.row = str(random.choice(rows + (["cls"] if "[CLS]" in case.tokens[item] else [])))
    words = [method, *case.words, "--row=" + case.row]
    if len(case.stacks) > 1:
        words += ["--item", item]
    stack = case.stacks[item]
    case.notes = notes_of(oracle.prepared(stack, case.options, case.layers)[1], case.options)
    if method == "average":
        by_layer, matrices = False, [oracle.average(stack, case.options, case.layers)]
    else:
        matrices = oracle.rollout_by_layer(stack, case.options, case.layers)
    if by_layer:
        words.append("--by-layer")
    if seed % 2:
        found = ask(*words)
    else:
        done = run(*words, "-o", tmp_path / "out.npz")
        assert done.returncode == 0, done.stderr
        found = read_npz(tmp_path / "out.npz")
    check_result(found, case, item, matrices, method, by_layer)


@pytest.mark.parametrize("seed", range(1000, 1030))
def test_all_items_of_a_batch_are_what_each_is_alone(seed, tmp_path):
    random = np.random.default_rng(seed)
    case = random_case(random, tmp_path)
    results = ask("rollout", *case.words, "--item", "all")
    done = run("rollout", *case.words, "--item", "all", "-o", tmp_path / "out.npz")
    assert done.returncode == 0, done.stderr
    assert len(results) == len(case.stacks)
    for item, stack in enumerate(case.stacks):
        case.notes = notes_of(oracle.prepared(stack, case.options, case.layers)[1], case.options)
        matrices = oracle.rollout_by_layer(stack, case.options, case.layers)
        for found in (results[item], read_npz(tmp_path / "out.npz", f"{item}/")):
            check_result(found, case, item, matrices, "rollout", False)


@pytest.mark.parametrize("seed", range(2000, 2030))
def test_raw_is_one_layer_as_it_is(seed, tmp_path):
    random = np.random.default_rng(seed)
    case = random_case(random, tmp_path)
    layer = int(random.integers(-len(case.stacks[0]), len(case.stacks[0])))
    path = case.words[0]
    axes = [str(w) for w in case.words[1:case.words.index("--preset")]]
    item = len(case.stacks) - 1
    stack = case.stacks[item]
    how = str(random.choice(["mean", "max", "min", "head:0", "head:-1"]))
    found = ask("raw", path, *axes, f"--layer={layer}", "--fuse", how, "--item=-1")
    close(found["values"], oracle.raw(stack, layer, how))
    place = layer % len(stack)
    assert found["options"]["fuse"] == how
    assert found["options"]["residual"] == found["options"]["discard"] == 0
    assert found["options"]["layers"] == [place, place + 1]


@pytest.mark.parametrize("seed", range(3000, 3040))
def test_metrics_are_pooled_over_the_batch(seed, tmp_path):
    random = np.random.default_rng(seed)
    case = random_case(random, tmp_path, ["metrics"])
    layer = int(random.integers(len(case.stacks[0])))
    found = ask("metrics", *case.words, "--layer", layer)
    begin, end = oracle.layer_range(case.layers, len(case.stacks[0]))
    assert found["method"] == "metrics"
    assert found["options"] == oracle.record(case.options, begin, end)
    expected = oracle.metrics(case.stacks, case.options, layer, case.layers, case.padded)
    assert found["metrics"].keys() == expected.keys()
    for name, value in expected.items():
        assert found["metrics"][name] == pytest.approx(value, abs=5e-6, rel=5e-6), name


@pytest.mark.parametrize("seed", range(4000, 4040))
def test_preset_tutorial_is_the_tutorials_class(seed, tmp_path):
    random = np.random.default_rng(seed)
    discard = float(random.choice([0, 0.1, 0.3, 0.5]))
    fusion = str(random.choice(["mean", "max", "min"]))
    residual = bool(random.random() < 0.7)
    options = oracle.options_of("tutorial", discard=discard, fuse=fusion, residual=0.5 if residual else 0.0)
    n, layers, heads = random.integers(1, 61), random.integers(1, 7), random.integers(1, 9)
    while True:
        stack = softmax_rows(random, (layers, heads, n, n)).astype(np.float32)
        if not hinges_on_rounding(list(stack.astype(np.float64)), options, ":"):
            break
    path = save(tmp_path / "case.npy", [stack])
    words = ["rollout", path, "--preset", "tutorial", "--discard", discard, "--fuse", fusion, "--by-layer"]
    found = ask(*words, *([] if residual else ["--residual", 0]))
    theirs = AttentionRollout(discard, fusion, residual)
    for ours, other in zip(found["values"], theirs.compute_rollout_by_layer(list(torch.from_numpy(stack)))):
        close(ours, other.double().numpy())


def test_discard_keeps_ties_with_the_threshold(tmp_path):
    """All weights equal: nothing is strictly below the threshold, so nothing goes."""
    path = save(tmp_path / "flat.npy", [np.full((2, 4, 4), 0.25, np.float32)])
    found = ask("rollout", path, "--residual", 0, "--discard", 0.9)
    assert found["values"] == [[0.25] * 4] * 4


@pytest.mark.parametrize("empty", ["identity", "zero"])
def test_emptied_rows_follow_the_rule_and_are_counted(empty, tmp_path):
    """Row 0 is flat and falls below the threshold of 1/2; the others have one weight of 1."""
    layer = np.eye(4, dtype=np.float32)
    layer[0] = 0.25
    path = save(tmp_path / "x.npy", [layer])
    found = ask("rollout", path, "--residual", 0, "--discard", 0.9, "--empty", empty)
    expected = np.eye(4)
    if empty == "zero":
        expected[0] = 0
    assert found["values"] == expected.tolist()
    assert found["notes"] == notes_of(1, oracle.Options(empty=empty))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -0.1])
def test_bad_rows_become_the_identitys_before_fusing_and_are_counted(bad, tmp_path):
    random = np.random.default_rng(5)
    stack = softmax_rows(random, (2, 3, 5, 5)).astype(np.float32)
    stack[1, 2, 3, 0] = bad
    path = save(tmp_path / "x.npy", [stack])
    found = ask("rollout", path, "--nan", "identity")
    mended = stack.astype(np.float64)
    mended[1, 2, 3] = np.eye(5)[3]
    close(found["values"], oracle.rollout(list(mended), oracle.Options()))
    assert found["notes"] == ["1 row(s) of heads with NaN, infinite or negative weights became identity rows"]


def test_rows_of_any_sum_are_divided(tmp_path):
    random = np.random.default_rng(6)
    stack = random.random((3, 2, 7, 7), np.float32)
    stack[1, :, 2] = 0
    path = save(tmp_path / "x.npy", [stack])
    found = ask("rollout", path, "--sums", "any", "--residual", 0)
    close(found["values"], oracle.rollout(list(stack.astype(np.float64)), oracle.Options(residual=0)))
    assert found["notes"] == notes_of(1, oracle.Options())


@pytest.mark.parametrize("by", ["layer", "evolution", "discard", "fuse", "method"])
def test_compare_has_the_oracles_panels_and_agreement(by, tmp_path):
    random = np.random.default_rng(7)
    stack = softmax_rows(random, (9, 3, 12, 12)).astype(np.float32)
    path = save(tmp_path / "x.npy", [stack])
    found = ask("compare", path, "--by", by)
    stack = list(stack.astype(np.float64))
    paper = oracle.Options()
    panels = {
        "layer": [("layer 8", oracle.raw(stack, -1)), ("rollout", oracle.rollout(stack, paper))],
        "evolution": [(f"after layer {k}", oracle.rollout(stack, paper, f":{k + 1}")) for k in (0, 2, 4, 6, 8)],
        "discard": [(f"discard {d:g}", oracle.rollout(stack, oracle.Options(discard=d))) for d in (0, 0.1, 0.3, 0.5)],
        "fuse": [(f"fuse {how}", oracle.rollout(stack, oracle.Options(fuse=how))) for how in ("mean", "max", "min")],
        "method": [("raw, layer 8", oracle.raw(stack, -1)), ("average", oracle.average(stack, paper)),
                   ("rollout", oracle.rollout(stack, paper)), ("flow", np.array(ask("flow", path)["values"]))],
    }[by]
    assert found["by"] == by
    assert [panel["label"] for panel in found["panels"]] == [label for label, _ in panels]
    for panel, (_, expected) in zip(found["panels"], panels):
        close(panel["values"], expected)
    assert np.abs(np.array(found["agreement"]) - oracle.agreement([m for _, m in panels])).max() < 1e-6
