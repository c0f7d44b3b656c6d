"""`headwater attribute`: rows in, blocks of Parquet out."""
from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any, Mapping

from .. import _engine
from ..arguments import OPTIONS
from ..errors import Error
from ..kinds import Table
from .attributor import Attributor, columns_of
from .blocks import Folder, fitted, hash_of, name_of, table_of
from .inputs import Block, Inputs
from .outcome import Outcome
from .progress import Progress, duration
from .row import Answer
from .settings import BadUsage, make_settings
from .shard import Shard, find_shard
from .table import COLUMNS, pyarrow
from .words import counted

SAMPLE_SECONDS = 2.0  # how long a dry run measures


class Work:
    """The request, checked: once this object exists, nothing is wrong with it."""

    def __init__(self, asked: argparse.Namespace, environment: Mapping[str, str]):
        pyarrow()
        if Path(asked.output).suffix.lower() in (".parquet", ".json", ".jsonl", ".csv"):
            raise BadUsage(f"-o {asked.output}: names a file, expected a folder for blocks of Parquet; for example "
                           f"-o {Path(asked.output).stem}/")
        self.shard: Shard = find_shard(asked.shard, environment)
        if asked.block < 1:
            raise BadUsage(f"--block {asked.block}: expected 1 or more rows; for example 1000")
        if asked.threads is not None:
            if asked.threads < 1:
                raise BadUsage(f"--threads {asked.threads}: expected 1 or more; leave it out for all cores")
            _engine.set_threads(asked.threads)
        self.keep = [name for name in asked.keep.split(",") if name]
        for name in self.keep:
            if name in COLUMNS or name == "id":
                raise BadUsage(f"--keep {name}: is a column of the result, expected another name; rename it in the data")
        self.id: str | None = asked.id
        options = {word: getattr(asked, word) for word in OPTIONS if word != "row"}
        try:
            make_settings(asked.method, asked.row, asked.target, asked.against, asked.rule, asked.layer, asked.top,
                          asked.truncate, options)
        except Error as wrong:
            raise BadUsage(str(wrong)) from None
        self.inputs = Inputs(asked.inputs, [asked.column, *([asked.id] if asked.id else []), *self.keep], asked.block,
                             asked.format)
        self.attributor = Attributor(
            asked.model, asked.method, row=asked.row, target=asked.target, against=asked.against, rule=asked.rule,
            layer=asked.layer, top=asked.top, truncate=asked.truncate, ignore_code=asked.ignore_code, **options)
        self.settings = json.dumps(dict(
            headwater=_engine.version(), model=asked.model, content=self.attributor.content, column=asked.column,
            id=asked.id, keep=self.keep, block=asked.block, rows=self.inputs.count, **self.attributor.settings.record()), sort_keys=True)

    def table(self, block: Block) -> Table:
        """The results of a block."""
        texts = [values[0] if error is None else None for values, error in block.rows]
        answers = self.attributor._model.answers(texts)
        kept: dict[str, list[Any]] = {"id": []}
        for name in self.keep:
            kept[name] = []
        names = self.inputs.columns
        for k, (values, error) in enumerate(block.rows):
            row = dict(zip(names, values))
            for name, column in kept.items():
                source = self.id if name == "id" else name
                try:
                    column.append(block.first + k if source is None else fitted(row[source],
                                                                                   self.inputs.types[source]))
                except ValueError as wrong:
                    column.append(None)
                    error = error or f"column '{source}' {wrong}; correct it"
            if error is not None:
                answers[k] = Answer(error=error)
        settings = self.attributor.settings
        types = dict(self.inputs.types) | {"id": self.inputs.types[self.id] if self.id else pyarrow().int64()}
        return table_of(columns_of(answers, settings.top is not None), kept, types, settings.method, self.settings,
                        hash_of(block))


def attribute(asked: argparse.Namespace, environment: Mapping[str, str]) -> int:
    """Runs the command, and returns the exit status."""
    work = Work(asked, environment)
    if work.shard.count > 1:
        by = f"; the environment says so, --shard 0/1 does all of it" if work.shard.said_by not in ("", "--shard") else ""
        print(f"headwater: {work.shard}{by}", file=sys.stderr)
    if asked.dry_run:
        return dry_run(work)
    folder = Folder(asked.output)
    folder.check(work.settings)
    folder.refuse_after(work.inputs.blocks)
    mine = [index for index in range(work.inputs.blocks) if work.shard.has(index)]
    progress = Progress(sum(min(asked.block, work.inputs.count - index * asked.block) for index in mine))
    written, outcome = 0, Outcome(named=work.id is not None)
    for block in work.inputs.read(work.shard.has):
        name = name_of(block, work.settings)
        done = folder.has(block, name)
        if not done:
            table = work.table(block)
            folder.write(name, table)
            written += 1
        else:
            table = there(folder, name)
        outcome.add(table)
        progress.add(len(block.rows), ran=not done)
    progress.clear()
    if outcome.failed and outcome.failed == progress.done:
        part = f" of {work.shard}" if work.shard.count > 1 else ""
        raise Error(f"every row{part} failed, {progress.done:,} in all (see column error in {asked.output}); row "
                    f"{outcome.first[0]}: {outcome.first[1]}")
    failed = f"{outcome.failed:,} failed (see column error)" if outcome.failed else "none failed"
    print(f"headwater: {counted(progress.done, 'row')}, {failed}; {counted(written, 'block')} written to {asked.output}"
          + (f", {len(mine) - written:,} {'was' if len(mine) - written == 1 else 'were'} there" if written < len(mine)
             else "") + (f"; {progress.rate():.3g} rows a second" if progress.ran else ""), file=sys.stderr)
    for note in outcome.notes(work.id):
        print(f"headwater: note: {note}", file=sys.stderr)
    return 1 if outcome.failed and asked.strict else 0


def there(folder: Folder, name: str) -> Table:
    """The columns id and error of a block that was already there."""
    import pyarrow.parquet as parquet
    return parquet.read_table(folder.path / name, columns=["id", "error"])


def dry_run(work: Work) -> int:
    """Counts all rows, and runs the first ones to estimate the time."""
    rows = tokens = wrong = blocks = 0
    sample: list[object] = []
    sampled = 0
    for block in work.inputs.read(work.shard.has):
        texts = [values[0] for values, _ in block.rows]
        counts = work.attributor.tokens(texts)
        numbers = [count for count in counts if isinstance(count, int)]
        rows, blocks = rows + len(counts), blocks + 1
        tokens, wrong = tokens + sum(numbers), wrong + len(counts) - len(numbers)
        for text, count in zip(texts, counts):
            if isinstance(count, int) and len(sample) < 2000:
                sample.append(text)
                sampled += count
    seconds, ran = timed(work, sample)
    estimate = f"about {duration(seconds * tokens / ran)} by {ran:,} tokens that ran" if ran else "nothing runs"
    print(f"{counted(rows, 'row')} ({wrong:,} that cannot run), {counted(tokens, 'token')}, {counted(blocks, 'block')}; "
          f"{estimate}")
    return 0


def timed(work: Work, sample: list[object]) -> tuple[float, int]:
    """The seconds that some of the texts take, and their number of tokens."""
    work.attributor._model.answers(sample[:1])  # warms up what happens only once
    seconds, ran, at = 0.0, 0, 0
    while at < len(sample) and seconds < SAMPLE_SECONDS:
        some = sample[at:at + 64]
        begin = time.monotonic()
        answers = work.attributor._model.answers(some)
        seconds += time.monotonic() - begin
        ran += sum(answer.length or 0 for answer in answers)
        at += len(some)
    return seconds, ran
