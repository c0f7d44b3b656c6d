"""Runs a sweep class by class: one process does the work, and another takes over if it dies or takes too long."""
import json
import os
import select
import subprocess
import sys
import warnings

SECONDS = int(os.environ.get("SWEEP_SECONDS", 100))  # for one class, the import of torch included
SETTINGS = {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE_BF16", "OMP_NUM_THREADS": "1", "TRANSFORMERS_VERBOSITY": "critical",
            "HF_HUB_OFFLINE": "1"}


def work(try_class):
    """What `script --worker` does: a name a line from standard input, what try_class found a line to standard output."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what models print goes elsewhere
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        print(json.dumps(try_class(line.strip())), file=out, flush=True)


def start(script):
    return subprocess.Popen([sys.executable, script, "--worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True, bufsize=1, env=SETTINGS | os.environ)


def run(script, names, report=lambda name, found: None):
    """{class: [[case, outcome, detail], ...]} of the try_class of a script."""
    found, process = {}, start(script)
    for name in names:
        process.stdin.write(name + "\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], SECONDS)
        line = process.stdout.readline() if ready else ""
        if line:
            found[name] = json.loads(line)
        else:
            process.kill()
            process.wait()
            process = start(script)
            found[name] = [["run", "crash", "the process died"] if ready else
                           ["run", "unknown", f"took more than {SECONDS} s"]]
        report(name, found[name])
    process.stdin.close()
    process.wait()
    return found
