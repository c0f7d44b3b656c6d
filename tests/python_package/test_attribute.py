"""headwater attribute: rows in, blocks out, whatever happens on the way."""
import csv
import json
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headwater as hw

NOUNS = ["key", "keys", "cabinet", "table", "author", "senators", "dog", "dogs"]
LAUNCHERS = ("RANK", "WORLD_SIZE", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "JOB_COMPLETION_INDEX")


def sentences(count, seed=0):
    pick = random.Random(seed)
    return [f"the {pick.choice(NOUNS)} near the {pick.choice(NOUNS)}" + " is here" * pick.randrange(4)
            for _ in range(count)]


def line(*words, **environment):
    """The words of a process, and its environment."""
    clean = {name: value for name, value in os.environ.items() if name not in LAUNCHERS}
    return ([sys.executable, "-m", "headwater.data.command", "attribute", *map(str, words)],
            clean | {name: str(value) for name, value in environment.items()})


def run(*words, status=0, **environment):
    command, around = line(*words, **environment)
    done = subprocess.run(command, env=around, capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    return done


def fails(status, *words, **environment):
    message = run(*words, status=status, **environment).stderr
    assert message.startswith("headwater: ") and message.count("\n") == 1, message
    return message


def bytes_in(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def rows(tmp_path):
    """240 rows of Parquet, in several row groups."""
    path = tmp_path / "rows.parquet"
    texts = sentences(240)
    pq.write_table(pa.table({"text": texts, "key": [f"k{k}" for k in range(240)], "label": [k % 3 for k in range(240)]}),
                   path, row_group_size=50)
    return path, texts


def test_the_blocks_hold_what_the_methods_give(rows, tmp_path):
    path, texts = rows
    done = run("verb-number", path, "-o", tmp_path / "out", "--block", 50, "--keep", "label", "--id", "key")
    assert "240 rows, none failed" in done.stderr and "5 blocks written" in done.stderr
    table = hw.read(tmp_path / "out")
    assert table["id"].to_pylist() == [f"k{k}" for k in range(240)]
    assert table["label"].to_pylist() == [k % 3 for k in range(240)]
    expected = hw.relevance("verb-number", text=texts[:60])
    for k in range(60):
        np.testing.assert_array_equal(np.float32(table["values"][k].as_py()), np.asarray(expected.item(k)))
    settings = json.loads(table.schema.metadata[b"headwater"])
    assert settings["method"] == "relevance" and settings["model"] == "verb-number" and len(settings["content"]) == 64
    assert settings["rule"] == "frozen" and settings["headwater"] == hw.__version__


def test_the_bytes_do_not_depend_on_shards_or_threads(rows, tmp_path):
    path, _ = rows
    words = ["verb-number", path, "--method", "rollout", "--row", "0", "--block", 30]
    run(*words, "-o", tmp_path / "whole")
    for part in range(3):
        run(*words, "-o", tmp_path / "parts", "--shard", f"{part}/3", "--threads", 1 + part)
    assert bytes_in(tmp_path / "whole") == bytes_in(tmp_path / "parts") and len(bytes_in(tmp_path / "whole")) == 8


def test_what_is_there_is_not_done_again(rows, tmp_path):
    path, _ = rows
    words = ["verb-number", path, "-o", tmp_path / "out", "--block", 40, "--top", 2]
    run(*words)
    before = {file: file.stat().st_mtime_ns for file in (tmp_path / "out").iterdir()}
    removed = sorted(before)[2]
    removed.unlink()
    assert "1 block written" in run(*words).stderr
    after = {file: file.stat().st_mtime_ns for file in (tmp_path / "out").iterdir()}
    assert {file for file in before if before[file] != after[file]} == {removed}


@pytest.mark.parametrize("more, found", [(["--method", "rollout"], "method"), (["--top", 3], "top"),
                                         (["--target", 1], "target"), (["--keep", "label"], "keep"),
                                         (["--block", 60], "block")])
def test_a_folder_of_other_work_is_refused(rows, tmp_path, more, found):
    path, _ = rows
    run("verb-number", path, "-o", tmp_path / "out", "--block", 120)
    before = bytes_in(tmp_path / "out")
    assert f"belongs to other work ({found}" in fails(1, "verb-number", path, "-o", tmp_path / "out", "--block", 120, *more)
    assert bytes_in(tmp_path / "out") == before


def test_other_rows_are_refused(rows, tmp_path):
    path, texts = rows
    (tmp_path / "rows.txt").write_text("\n".join(texts))
    words = ["verb-number", tmp_path / "rows.txt", "-o", tmp_path / "out", "--block", 100]
    run(*words)
    (tmp_path / "rows.txt").write_text("\n".join(texts[:150] + ["the dog"] + texts[151:]))
    assert "is of other rows" in fails(1, *words)
    (tmp_path / "rows.txt").write_text("\n".join(texts[:100]))
    assert "was written for 240 rows, and the inputs now have 100" in fails(1, *words)
    (tmp_path / "rows.txt").write_text("\n".join(texts + ["the dog"]))
    message = fails(1, *words)
    assert "was written for 240 rows, and the inputs now have 241" in message and "rows that were added" in message


def test_all_formats_give_the_same_rows(rows, tmp_path):
    path, texts = rows
    labels = [k % 3 for k in range(240)]
    (tmp_path / "rows.txt").write_text("\n".join(texts) + "\n")
    (tmp_path / "rows.jsonl").write_text("\n\n".join(json.dumps(dict(text=text, label=label))
                                                     for text, label in zip(texts, labels)))
    with open(tmp_path / "rows.csv", "w", newline="") as file:
        csv.writer(file).writerows([["label", "text"], *zip(labels, texts)])
    tables = {}
    for ending in ("parquet", "jsonl", "csv", "txt"):
        keep = [] if ending == "txt" else ["--keep", "label"]
        run("verb-number", tmp_path / f"rows.{ending}", "-o", tmp_path / ending, *keep)
        tables[ending] = hw.read(tmp_path / ending)
    for ending, table in tables.items():
        assert table["id"].to_pylist() == list(range(240))
        assert table["values"] == tables["parquet"]["values"], ending
    assert tables["jsonl"]["label"].to_pylist() == labels
    assert tables["csv"]["label"].to_pylist() == [str(label) for label in labels]  # CSV has no types


def test_several_inputs_are_one_after_the_other(rows, tmp_path):
    path, texts = rows
    (tmp_path / "more.jsonl").write_text("\n".join(json.dumps(dict(text=text)) for text in texts[:30]))
    run("verb-number", path, tmp_path / "more.jsonl", "-o", tmp_path / "out", "--block", 33)
    table = hw.read(tmp_path / "out")
    assert table["id"].to_pylist() == list(range(270)) and table["values"][240:].to_pylist() == table["values"][:30].to_pylist()


def test_rows_that_fail_are_recorded_and_counted(tmp_path):
    lines = ['{"text": "the keys", "n": 1}', '{"text": "", "n": 2}', "no json", '{"text": 5, "n": 3}', '{"n": 4}',
             '{"text": "a dog", "n": "many"}', json.dumps(dict(text="the dog " * 300, n=6)), '["text"]']
    (tmp_path / "rows.jsonl").write_text("\n".join(lines[:1] * 1000 + lines * 10))  # the first thousand say what n is
    words = ["verb-number", tmp_path / "rows.jsonl", "-o", tmp_path / "out", "--keep", "n"]
    assert "1,080 rows, 70 failed" in run(*words).stderr
    assert "1,080 rows, 70 failed" in run(*words, "--strict", status=1).stderr
    table = hw.read(tmp_path / "out")
    errors = table["error"].to_pylist()[1000:1008]
    for error, part in zip(errors, [None, "no tokens", "not a JSON object", "its type is int", "is missing", "'n' is \"many\"",
                                    "expected at most", "not a JSON object"]):
        assert error is None if part is None else part in error, error
    assert table["n"].to_pylist()[1000:1008] == [1, 2, None, 3, 4, None, 6, None]


@pytest.mark.parametrize("words, message", [
    (["--method", "relevence"], "did you mean 'relevance'"),
    (["--colum", "text"], "did you mean '--column'"),
    (["--shard", "3/3"], "0 to 2"),
    (["--shard", "x"], "expected i/n"),
    (["--top", "0"], "--top 0"),
    (["--top", "many"], "many"),
    (["--block", "0"], "--block 0"),
    (["--rule", "chefer"], "unknown rule 'chefer'"),
    (["--row", "all"], "--row all"),
    (["--keep", "values"], "--keep values"),
    (["--residual", "0.5"], "--residual: was given with method relevance"),
])
def test_a_bad_option_ends_it_before_the_first_block(rows, tmp_path, words, message):
    status = 1 if words[0] == "--shard" and words[1] == "3/3" else 2
    assert message in fails(status, "verb-number", rows[0], "-o", tmp_path / "out", *words)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("words, message", [
    (["--column", "txt"], "has no column 'txt'; did you mean 'text'"),
    (["--target", "plurall"], "plural"),
    (["--method", "rollout", "--fuse", "head:77"], "has no head 77"),
])
def test_what_the_data_or_the_model_lack_ends_it_too(rows, tmp_path, words, message):
    assert message in fails(1, "verb-number", rows[0], "-o", tmp_path / "out", *words)
    assert not (tmp_path / "out").exists()


def test_files_that_cannot_be_read_are_named(tmp_path):
    out = ["-o", tmp_path / "out"]
    assert "x.parquet: is not a file" in fails(1, "verb-number", tmp_path / "x.parquet", *out)
    (tmp_path / "x.parquet").write_bytes(b"PAR1 nothing PAR1")
    assert "x.parquet: cannot be read as Parquet" in fails(1, "verb-number", tmp_path / "x.parquet", *out)
    (tmp_path / "x.xlsx").write_bytes(b"")
    assert "no format has the ending '.xlsx'" in fails(1, "verb-number", tmp_path / "x.xlsx", *out)
    (tmp_path / "x.txt").write_text("a dog\n")
    (tmp_path / "file").write_text("")
    assert "cannot be made" in fails(1, "verb-number", tmp_path / "x.txt", "-o", tmp_path / "file")
    assert "nowhere: does not exist" in fails(1, "nowhere", tmp_path / "x.txt", *out)


def test_an_empty_input_gives_an_empty_folder(tmp_path):
    (tmp_path / "x.txt").write_text("")
    assert "0 rows" in run("verb-number", tmp_path / "x.txt", "-o", tmp_path / "out").stderr
    with pytest.raises(hw.Error, match="holds no blocks"):
        hw.read(tmp_path / "out")


@pytest.mark.parametrize("environment, part, parts", [
    (dict(RANK=1, WORLD_SIZE=3), 1, 3),
    (dict(SLURM_ARRAY_TASK_ID=2, SLURM_ARRAY_TASK_COUNT=3), 2, 3),
    (dict(SLURM_ARRAY_TASK_ID=5, SLURM_ARRAY_TASK_COUNT=3, SLURM_ARRAY_TASK_MIN=1, SLURM_ARRAY_TASK_STEP=2), 2, 3),
])
def test_a_launcher_says_which_part(rows, tmp_path, environment, part, parts):
    done = run("verb-number", rows[0], "-o", tmp_path / "out", "--block", 20, **environment)
    assert f"shard {part} of {parts} ({next(iter(environment))}" in done.stderr
    assert sorted(int(path.name[:7]) for path in (tmp_path / "out").iterdir()) == list(range(part, 12, parts))


def test_kubernetes_says_the_part_and_the_line_says_of_how_many(rows, tmp_path):
    words = ["verb-number", rows[0], "-o", tmp_path / "out", "--block", 60]
    assert "give --shard /N" in fails(1, *words, JOB_COMPLETION_INDEX=1)
    run(*words, "--shard", "/4", JOB_COMPLETION_INDEX=1)
    assert [path.name[:7] for path in (tmp_path / "out").iterdir()] == ["0000001"]
    assert "leaves the part to the environment" in fails(1, *words, "--shard", "/4")
    assert "RANK 'x'" in fails(1, *words, RANK="x", WORLD_SIZE=2)


def test_a_dry_run_counts_and_writes_nothing(rows, tmp_path):
    path, texts = rows
    done = run("verb-number", path, "-o", tmp_path / "out", "--block", 50, "--dry-run")
    tokens = sum(map(len, hw.open("verb-number", text=texts).tokens))
    assert f"240 rows (0 that cannot run), {tokens:,} tokens, 5 blocks; about " in done.stdout
    assert not (tmp_path / "out").exists()


def test_a_missing_block_is_noticed_when_the_folder_is_read(rows, tmp_path):
    run("verb-number", rows[0], "-o", tmp_path / "out", "--block", 50)
    sorted((tmp_path / "out").iterdir())[1].unlink()
    with pytest.raises(hw.Error, match="4 of 5 blocks are there, the first that is missing is block 1;"):
        hw.read(tmp_path / "out")
    assert len(hw.read(tmp_path / "out", partial=True, columns=["id"])) == 190


def test_pandas_polars_and_duckdb_read_the_folder(rows, tmp_path):
    import duckdb
    import pandas
    import polars
    run("verb-number", rows[0], "-o", tmp_path / "out", "--block", 50, "--keep", "label")
    expected = hw.read(tmp_path / "out")
    sums = [sum(values) for values in expected["values"].to_pylist()]
    frame = pandas.read_parquet(tmp_path / "out").sort_values("id")
    np.testing.assert_allclose([np.float64(values).sum() for values in frame["values"]], sums, rtol=1e-6)
    lazy = polars.read_parquet(tmp_path / "out").sort("id")
    np.testing.assert_allclose(lazy["values"].list.sum().to_numpy(), sums, rtol=1e-4, atol=1e-5)
    answer = duckdb.sql(f"select label, count(*), sum(list_sum(values)) from '{tmp_path}/out/*.parquet' group by 1 "
                        "order by 1").fetchall()
    assert [(label, count) for label, count, _ in answer] == [(0, 80), (1, 80), (2, 80)]
    np.testing.assert_allclose(sum(total for _, _, total in answer), sum(sums), rtol=1e-4)


def test_killing_it_at_any_moment_loses_nothing_and_does_nothing_twice(tmp_path):
    """Two shards on one folder, killed at random moments; HEADWATER_KILLS says how often (make kills: fifty times)."""
    times = int(os.environ.get("HEADWATER_KILLS", "3"))
    pick = random.Random(int(os.environ.get("HEADWATER_SEED", "1")))
    path = tmp_path / "rows.txt"
    path.write_text("\n".join(sentences(3000, seed=5)))
    words = ["verb-number", path, "--block", 20, "--method", "rollout", "--threads", 1]
    run(*words, "-o", tmp_path / "clean")
    clean = bytes_in(tmp_path / "clean")
    assert len(clean) == 150
    out, halfway = tmp_path / "out", 0
    for _ in range(times):
        if len(list(out.glob("*.parquet"))) == len(clean):
            for file in out.iterdir():
                file.unlink()
        begin, before = time.monotonic(), set(out.glob("*"))
        pair = [subprocess.Popen(*line(*words, "-o", out, "--shard", f"{part}/2")[:1], stderr=subprocess.DEVNULL,
                                 env=line()[1]) for part in range(2)]
        while not set(out.glob("*")) - before and time.monotonic() < begin + 20:
            time.sleep(0.01)  # from the first file on: importing is not what is tested
        for process in pair:
            time.sleep(pick.uniform(0, 0.15))
            process.send_signal(signal.SIGKILL)
            process.wait()
        there = {name: data for name, data in bytes_in(out).items() if name.endswith(".parquet")}
        assert all(clean[name] == data for name, data in there.items())  # whole, whatever was killed
        halfway += 0 < len(there) < len(clean)
    assert halfway
    for part in range(2):
        run(*words, "-o", out, "--shard", f"{part}/2")
    assert bytes_in(out) == clean


def test_an_interrupt_ends_it_with_one_line(tmp_path):
    path = tmp_path / "rows.txt"
    path.write_text("\n".join(sentences(50000)))
    command, around = line("verb-number", path, "-o", tmp_path / "out", "--block", 20)
    # A script in the background ignores SIGINT, and so would what it starts.
    process = subprocess.Popen(command, env=around, stderr=subprocess.PIPE, text=True,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    while not list((tmp_path / "out").glob("*.parquet")):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    message = process.communicate()[1]
    assert process.returncode == 130 and message == "headwater: interrupted; run the same line again to continue\n"
    assert not list((tmp_path / "out").glob(".*"))


def test_what_cannot_be_printed_is_one_sentence(rows, tmp_path):
    path, _ = rows
    run("verb-number", path, "-o", tmp_path / "out", "--block", 200)
    again = ["verb-number", path, "-o", tmp_path / "out", "--block", 200]
    for words in (["attribute", "--help"], ["summarise", tmp_path / "out"]):
        command, around = line()
        with open("/dev/full", "wb") as full:
            done = subprocess.run([*command[:-1], *map(str, words)], env=around, stdout=full, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 1 and done.stderr.startswith("headwater: output: No space left"), done.stderr
        assert done.stderr.count("\n") == 1
    command, around = line(*again)
    for closed, status in ((1, 0), (2, 0)):  # nothing goes to standard output
        done = subprocess.run(command, env=around, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              preexec_fn=lambda: os.close(closed))
        assert done.returncode == status and done.stdout == "", (closed, done.stdout, done.stderr)
    assert len(bytes_in(tmp_path / "out")) == 2


def ended_by(failing):
    """How the command ends where its work runs this statement."""
    program = f"""
import headwater.data.command as command
class Later:
    def __del__(self):
        raise MemoryError
def later():
    try:
        raise MemoryError
    except MemoryError:
        return {{}}["a table that was not made"]
def done(words):
    {failing}
command.done = done
command.main(["attribute"])
"""
    return subprocess.run([sys.executable, "-c", program], env=line()[1], capture_output=True, text=True)


def test_an_interrupt_while_packages_load_has_no_words_of_theirs(tmp_path):
    (tmp_path / "numpy.py").write_text("import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(9)\n")
    program = "import sys; sys.argv = ['headwater', 'attribute']; import headwater_command; headwater_command.main()"
    env = line()[1] | {"PYTHONPATH": f"{tmp_path}:{os.path.dirname(os.path.dirname(hw.__file__))}"}
    # A script in the background ignores SIGINT, and so would what it starts.
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=60,
                          preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    assert done.returncode == -signal.SIGINT and done.stderr == ""


@pytest.mark.parametrize("failing", ["raise MemoryError", "raise RuntimeError(\"can't allocate lock\")", "later()",
                                     "Later(); raise MemoryError"])
def test_where_memory_ends_there_is_one_sentence(failing):
    ended = ended_by(failing)
    assert ended.returncode == 1 and ended.stdout == "", ended
    assert ended.stderr == "headwater: out of memory, expected room for a block of rows; take fewer with --block\n"


def test_what_nobody_expected_is_one_sentence_that_says_where():
    ended = ended_by("raise ValueError('[digital envelope routines] unsupported')")
    assert ended.returncode == 1 and ended.stdout == ""
    assert ended.stderr == ("headwater: ValueError in <string>:12 was not expected ([digital envelope routines] unsupported); "
                            "run the same line again, and report it if it comes back\n")
