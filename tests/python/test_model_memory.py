"""One row of a long text needs memory that grows with its length, not with its square."""
import json

import pytest

from families import make
from test_memory import MEGABYTE, peak


@pytest.fixture(scope="module")
def long_llama(tmp_path_factory):
    """Six layers, 384 wide."""
    folder = tmp_path_factory.mktemp("long")
    make("LlamaModel", "LlamaConfig",
         dict(hidden_size=384, num_attention_heads=6, num_key_value_heads=6, num_hidden_layers=6, intermediate_size=1024,
              vocab_size=50, max_position_embeddings=32768)).save_pretrained(folder)
    return folder


def test_one_row_of_4096_tokens(long_llama, tmp_path, capsys):
    ids = ",".join(str(t * 7919 % 50) for t in range(4096))
    anonymous, _ = peak(["rollout", long_llama, "--ids", ids, "--row", "last", "-o", tmp_path / "row.json"])
    with capsys.disabled():
        print(f"\n4096 tokens, one row: {anonymous / MEGABYTE:.0f} MB of its own", end="")
    # Queries and keys of six layers, activations of one: 16384 tokens need four times this, within 1 GB.
    assert anonymous < 256 * MEGABYTE
    row = json.loads((tmp_path / "row.json").read_text())["values"][0]
    assert len(row) == 4096 and abs(sum(row) - 1) < 1e-3


def test_layers_that_share_their_weights_are_held_once(tmp_path):
    make("AlbertModel", "AlbertConfig",
         dict(hidden_size=384, num_attention_heads=6, num_hidden_layers=2, intermediate_size=1536, embedding_size=16,
              vocab_size=50)).save_pretrained(tmp_path)
    path = tmp_path / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | dict(num_hidden_layers=10_000)))
    anonymous, _ = peak(["info", tmp_path])
    assert anonymous < 64 * MEGABYTE  # 200 MB if each layer had its own norms and biases
