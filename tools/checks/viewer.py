"""The page's script and style."""
from . import ROOT, run, tail

VIEWER = ROOT / "viewer"
TESTS = ROOT / "build/viewer"


def check(report):
    """viewer/: Prettier, types, unit tests, and viewer/built is what viewer/source builds"""
    steps = [
        ("Prettier; npm run format mends it", ["node_modules/.bin/prettier", "--check", "."]),
        ("types", ["node_modules/.bin/tsc"]),
        ("unit tests", ["node", "build.mjs", "--test", TESTS]),
        ("unit tests", ["node", "--test", *sorted(TESTS / f"{path.stem}.mjs" for path in VIEWER.glob("tests/*.ts"))]),
        ("viewer/built", ["node", "build.mjs", "--check"]),
    ]
    for name, command in steps:
        status, output = run([str(word) for word in command], cwd=VIEWER, timeout=300)
        if status:
            report.fail(f"{name}:\n{tail(output)}")
    report.note = output.strip().splitlines()[-1] if output.strip() else ""
