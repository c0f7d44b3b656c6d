"""headwater attribute: what it takes as rows, and what it says of rows, names and folders that are not right."""
import gzip
import io
import json
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headwater as hw
from headwater.data.command import run

TEXTS = ["the keys to the cabinet", "a dog", "caf\u00e9 near the table"]


@pytest.fixture(scope="module")
def expected():
    return [list(values) for values in hw.Attributor("verb-number")({"text": TEXTS})["values"]]


def lines(texts=TEXTS):
    return "".join(json.dumps(dict(text=text)) + "\n" for text in texts)


def write_folder(path):
    path.mkdir()
    for k, text in enumerate(TEXTS):
        pq.write_table(pa.table({"text": [text]}), path / f"part-{k}.parquet")
    (path / "_SUCCESS").write_text("")


def write_table(path, mark=b"", separator=","):
    path.write_bytes(mark + f"label{separator}text\n".encode() + "".join(f"1{separator}{text}\n" for text in TEXTS).encode())


@pytest.mark.parametrize("name, write", [
    ("mark.csv", lambda path: write_table(path, b"\xef\xbb\xbf")),
    ("first.jsonl", lambda path: path.write_bytes(b"\xef\xbb\xbf" + lines().encode())),
    ("x.tsv", lambda path: write_table(path, separator="\t")),
    ("x.csv.gz", lambda path: (write_table(path), path.write_bytes(gzip.compress(path.read_bytes())))),
    ("x.jsonl.gz", lambda path: path.write_bytes(gzip.compress(lines().encode()))),
    ("x.txt.gz", lambda path: path.write_bytes(gzip.compress("\n".join(TEXTS).encode()))),
    ("array.json", lambda path: path.write_text(json.dumps([dict(text=text) for text in TEXTS], indent=1))),
    ("one-line.json", lambda path: path.write_text(json.dumps([dict(text=text) for text in TEXTS]))),
    ("lines.json", lambda path: path.write_text(lines())),
    ("folder", write_folder),
])
def test_rows_come_from_what_people_have(attribute, expected, tmp_path, name, write):
    write(tmp_path / name)
    attribute(tmp_path / name)
    assert hw.read(tmp_path / "out")["values"].to_pylist() == expected


def test_a_mark_before_the_first_name_is_no_part_of_it(attribute, tmp_path):
    (tmp_path / "x.csv").write_bytes(b"\xef\xbb\xbftext\na dog\n")
    attribute(tmp_path / "x.csv")
    assert hw.read(tmp_path / "out")["error"].to_pylist() == [None]


@pytest.mark.parametrize("words, data", [((), lines()), (("--format", "txt"), "\n".join(TEXTS))])
def test_standard_input_is_an_input(attribute, expected, tmp_path, monkeypatch, words, data):
    class Standard:
        buffer = io.BytesIO(data.encode())
    monkeypatch.setattr(sys, "stdin", Standard)
    attribute("-", *words)
    assert hw.read(tmp_path / "out")["values"].to_pylist() == expected


@pytest.mark.parametrize("name, data, message", [
    ("x.gz", b"", "no format has the ending '.gz'"),
    ("x.parquet.gz", b"", "no format has the ending '.parquet.gz'"),
    ("x.csv.gz", b"text\nno gzip", "cannot be unpacked"),
    ("x.json", b'[{"text": "a dog"},', "begins like a JSON array but is not one"),
])
def test_what_cannot_be_read_is_named(attribute, tmp_path, name, data, message):
    (tmp_path / name).write_bytes(data)
    assert message in attribute(tmp_path / name, status=1) and not (tmp_path / "out").exists()


def test_a_folder_without_rows_or_of_several_formats_is_refused(attribute, tmp_path):
    (tmp_path / "rows").mkdir()
    assert "is a folder without rows" in attribute(tmp_path / "rows", status=1)
    (tmp_path / "rows/a.txt").write_text("a dog")
    (tmp_path / "rows/b.jsonl").write_text(lines())
    assert "several formats (.jsonl, .txt)" in attribute(tmp_path / "rows", status=1)


def test_other_bytes_than_utf8_are_said_to_be_so(attribute, tmp_path):
    (tmp_path / "x.txt").write_bytes(b"a dog\ncaf\xe9\n")
    attribute(tmp_path / "x.txt")
    errors = hw.read(tmp_path / "out")["error"].to_pylist()
    assert errors[0] is None and errors[1].startswith("is not UTF-8")
    (tmp_path / "x.csv").write_bytes(b"te\xe9xt\na dog\n")
    assert "x.csv: is not UTF-8" in attribute(tmp_path / "x.csv", status=1)


def test_a_run_in_which_every_row_failed_has_failed(attribute, tmp_path):
    (tmp_path / "x.jsonl").write_text('{"text": 1}\n{"text": 2}\n')
    for _ in range(2):  # also when the block is there
        message = attribute(tmp_path / "x.jsonl", status=1)
        assert "every row failed" in message and "row 0: is not text (its type is int)" in message
    (tmp_path / "y.jsonl").write_text('{"text": 1}\n{"text": "a dog"}\n')
    assert "1 failed (see column error); 1 block written" in attribute(tmp_path / "y.jsonl", out="some")


def test_errors_name_the_model_as_it_was_given(attribute, tmp_path):
    (tmp_path / "x.txt").write_text("a dog\n\n" + "the dog " * 900)
    attribute(tmp_path / "x.txt")
    errors = hw.read(tmp_path / "out")["error"].to_pylist()
    assert all(error.startswith("verb-number: ") for error in errors[1:]), errors
    assert "verb-number: " in attribute(tmp_path / "x.txt", "--target", "plurall", status=1)
    folder = str(hw.models()["verb-number"])
    assert all(folder not in error for error in errors[1:])
    assert folder not in attribute(tmp_path / "x.txt", "--target", "plurall", status=1)


def test_names_that_come_twice_and_files_as_folders_are_noticed(attribute, tmp_path):
    (tmp_path / "x.csv").write_text("text,key\na dog,k1\nthe dog,k2\nthe keys,k1\n")
    assert "note: column 'key' names several rows 'k1'" in attribute(tmp_path / "x.csv", "--id", "key")
    assert "names a file, expected a folder" in attribute(tmp_path / "x.csv", out="x.parquet", status=2)


def test_what_a_launcher_left_behind_is_said_and_can_be_set_aside(attribute, tmp_path, monkeypatch):
    (tmp_path / "x.txt").write_text("\n".join(TEXTS))
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert "--shard 0/1 does all of it" in attribute(tmp_path / "x.txt", "--block", 1)
    with pytest.raises(hw.Error, match="2 of 3 blocks are there"):
        hw.read(tmp_path / "out")
    assert "shard" not in attribute(tmp_path / "x.txt", "--block", 1, "--shard", "0/1")
    assert len(hw.read(tmp_path / "out")) == 3


def test_help_shows_all_options(capsys, monkeypatch):
    import headwater_command
    assert run(["help", "attribute"]) == 0
    assert "--shard i/n" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["headwater", "help", "attribute"])
    with pytest.raises(SystemExit) as end:
        headwater_command.main()
    assert end.value.code == 0 and "--shard i/n" in capsys.readouterr().out
