"""headwater attribute on inputs that nobody meant: other encodings, names twice, types that Python does not have."""
import bz2
import gzip
import json
import lzma

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headwater as hw

TEXT = b"the key\nthe dog\n"


@pytest.mark.parametrize("name, data, found", [
    ("x.txt", "the key\nthe dog\n".encode("utf-16"), "is UTF-16"),
    ("x.csv", "text\nthe key\n".encode("utf-16-be").join([b"\xfe\xff", b""]), "is UTF-16"),
    ("x.txt.gz", gzip.compress("the key\n".encode("utf-16")), "is UTF-16"),
    ("x.jsonl", gzip.compress(TEXT), "is packed with gzip"),
    ("x.txt", bz2.compress(TEXT), "is packed with bzip2"),
    ("x.txt", lzma.compress(TEXT), "is packed with xz"),
    ("x.txt", pa.compress(TEXT, codec="zstd", asbytes=True), "is packed with Zstandard"),
    ("x.csv", b"PK\x03\x04 a spreadsheet", "is a ZIP archive or a spreadsheet"),
    ("x.csv", b"PAR1 PAR1", "is Parquet"),
    ("x.csv", b"", "has no columns"),
    ("x.csv", b"text,text\nthe key,the dog\n", "has several columns 'text'"),
])
def test_what_is_no_text_or_has_no_such_column_ends_it(attribute, tmp_path, name, data, found):
    (tmp_path / name).write_bytes(data)
    message = attribute(tmp_path / name, status=1)
    assert f"{name}: {found}" in message and message.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_parquet_with_a_name_twice_is_refused(attribute, tmp_path):
    pq.write_table(pa.Table.from_arrays([pa.array(["the key"]), pa.array(["the dog"])], names=["text", "text"]),
                   tmp_path / "x.parquet")
    assert "has several columns 'text'" in attribute(tmp_path / "x.parquet", status=1)


@pytest.mark.parametrize("kind, numbers", [
    (pa.timestamp("ns"), [1_700_000_000_123_456_789, 1, None]),  # Python has no nanoseconds
    (pa.timestamp("us"), [2 ** 62, -2 ** 62, None]),  # and ends with the year 9999
    (pa.timestamp("us", tz="Mars/Base"), [1, 2, None]),
    (pa.duration("ns"), [1, -1, None]),
    (pa.time64("ns"), [1, 2, None]),
    (pa.time32("ms"), [1, 2, None]),
    (pa.date32(), [1, -1, None]),
])
def test_times_are_kept_as_they_are(attribute, tmp_path, kind, numbers):
    column = pa.array(numbers, pa.int32() if kind.bit_width == 32 else pa.int64()).view(kind)
    pq.write_table(pa.table({"text": ["the key", "a dog", "keys"], "when": column}), tmp_path / "x.parquet")
    attribute(tmp_path / "x.parquet", "--keep", "when", "--id", "when")
    found = hw.read(tmp_path / "out")
    for name in ("when", "id"):
        assert found[name].type == kind and found[name].combine_chunks().equals(column)


def test_times_name_groups(attribute, tmp_path):
    pq.write_table(pa.table({"text": ["the key", "a dog"], "when": pa.array([1, 2], pa.timestamp("ns"))}),
                   tmp_path / "x.parquet")
    attribute(tmp_path / "x.parquet", "--keep", "when")
    groups = {row["group"] for row in hw.summarise(tmp_path / "out", by="when").rows("token")}
    assert groups == {"1970-01-01 00:00:00.000000001", "1970-01-01 00:00:00.000000002"}


@pytest.mark.parametrize("kind", [pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())])
def test_all_kinds_of_text_are_one(attribute, tmp_path, kind):
    (tmp_path / "rows").mkdir()
    for k, own in enumerate([pa.string(), kind]):
        texts = pa.array(["the key", None], pa.string())
        texts = texts.dictionary_encode() if pa.types.is_dictionary(own) else texts.cast(own)
        pq.write_table(pa.table({"text": texts}), tmp_path / f"rows/{k}.parquet")
    attribute(tmp_path / "rows", "--keep", "text")
    assert hw.read(tmp_path / "out")["text"].to_pylist() == ["the key", None] * 2


def test_parquet_with_other_bytes_than_utf8_fails_in_those_rows_alone(attribute, tmp_path):
    offsets = pa.array([0, 7, 11], pa.int32()).buffers()[1]
    texts = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"the keyk\xff\xffy")])
    pq.write_table(pa.table({"text": texts, "note": texts}), tmp_path / "x.parquet")
    attribute(tmp_path / "x.parquet", "--keep", "note")
    found = hw.read(tmp_path / "out")
    assert found["error"].to_pylist()[0] is None and "is not UTF-8" in found["error"].to_pylist()[1]
    assert found["note"].to_pylist() == ["the key", None]


@pytest.mark.parametrize("row, message", [
    ({"text": "a dog", "more": "\ud800"}, "column 'more' is not Unicode text"),
    ({"text": "a dog", "more": ["\ud800"]}, "column 'more' is not Unicode text"),
])
def test_half_a_surrogate_in_a_kept_column_fails_in_its_row_alone(attribute, tmp_path, row, message):
    (tmp_path / "x.jsonl").write_text(json.dumps({"text": "the key", "more": "x"}) + "\n" + json.dumps(row) + "\n"
                                      + json.dumps({"text": "the key", "more": ["x"]} if type(row["more"]) is list else row))
    attribute(tmp_path / "x.jsonl", "--keep", "more")
    errors = hw.read(tmp_path / "out")["error"].to_pylist()
    assert errors[0] is None and message in errors[1]


def test_lists_in_lists_in_lists_are_no_row(attribute, tmp_path):
    deep = "[" * 100_000
    (tmp_path / "x.jsonl").write_text('{"text": "the key"}\n{"text": "the key", "x": ' + deep + "]" * 100_000 + "}\n")
    attribute(tmp_path / "x.jsonl")
    errors = hw.read(tmp_path / "out")["error"].to_pylist()
    assert errors[0] is None and "is not a JSON object" in errors[1]


def test_a_model_that_reads_no_texts_is_refused_before_anything_runs(attribute, tmp_path):
    (tmp_path / "x.txt").write_bytes(TEXT)
    message = attribute(tmp_path / "x.txt", status=1, model="shapes")
    assert message.startswith("headwater: shapes: reads no texts") and not (tmp_path / "out").exists()


def test_several_rows_are_refused_before_anything_runs(attribute, tmp_path):
    (tmp_path / "x.txt").write_bytes(TEXT)
    assert "several rows were given" in attribute(tmp_path / "x.txt", "--row", "0,1", status=2)
    assert not (tmp_path / "out").exists()
