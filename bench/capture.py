"""What a capture costs, beside eager attention with the tutorial's class: bench/capture.py [n...]

BERT-base shape, random weights, CPU, no gradients. Seconds are processor time (all threads), the least of several
runs; memory is the peak of a process's first run beyond that of the plain forward pass. Results are compared first.
"""
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/python"))

RUNS = int(os.environ.get("RUNS", "3"))
WAYS = ("sdpa", "capture", "eager")


def model_of(attention):
    import transformers
    config = transformers.BertConfig(vocab_size=1000, max_position_embeddings=4096, attn_implementation=attention)
    import torch
    torch.manual_seed(0)
    return transformers.BertModel(config, add_pooling_layer=False).eval()


def work(way, n):
    """A function that does the work once and gives the rollout, or None."""
    import torch
    from tutorial import AttentionRollout

    import headwater as hw
    model = model_of("eager" if way == "eager" else "sdpa")
    ids = torch.randint(0, 1000, (1, n), generator=torch.Generator().manual_seed(1))

    def run():
        with torch.no_grad():
            if way == "sdpa":
                model(input_ids=ids)
                return None
            if way == "eager":
                layers = model(input_ids=ids, output_attentions=True).attentions
                return AttentionRollout(discard_ratio=0).compute_rollout(layers)
            with hw.capture(model) as seen:
                model(input_ids=ids)
            return seen.rollout().values

    return run


def alone(way, n):
    """In a process of its own: seconds of processor time, and the peak of memory in MB before and after."""
    import numpy
    run = work(way, n)
    work_before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = []
    peak = 0
    for _ in range(RUNS):
        begun = time.process_time()
        result = run()
        seconds.append(time.process_time() - begun)
        # Of the first run: later ones add what malloc keeps of the earlier, which is not theirs.
        peak = peak or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if result is not None:
        numpy.save(os.environ["RESULT"], result.numpy())
    print(min(seconds), work_before / 1024, peak / 1024)


def main(sizes):
    import tempfile

    import numpy
    print(f"{'n':>6} {'way':>8} {'cpu s':>8} {'of sdpa':>8} {'MB beyond':>10} {'of eager':>9}")
    for n in sizes:
        found = {}
        with tempfile.TemporaryDirectory() as folder:
            for way in WAYS:
                env = dict(os.environ, RESULT=f"{folder}/{way}.npy")
                done = subprocess.run([sys.executable, __file__, "--alone", way, str(n)], capture_output=True,
                                      text=True, env=env, check=True)
                found[way] = [float(word) for word in done.stdout.split()]
            error = numpy.abs(numpy.load(f"{folder}/capture.npy") - numpy.load(f"{folder}/eager.npy")).max()
            assert error < 1e-5, f"results differ by {error}"
        beyond = {way: max(found[way][2] - found["sdpa"][2], 0) for way in WAYS}
        for way in WAYS:
            print(f"{n:6} {way:>8} {found[way][0]:8.3f} {found[way][0] / found['sdpa'][0]:8.2f} {beyond[way]:10.0f} "
                  f"{beyond[way] / max(beyond['eager'], 1):9.3f}")


if __name__ == "__main__":
    if "--alone" in sys.argv:
        alone(sys.argv[-2], int(sys.argv[-1]))
    else:
        main([int(word) for word in sys.argv[1:]] or [512, 2048])
