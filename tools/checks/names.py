"""Types that are defined twice. The linker merges two of one name without a word, and a program then uses the wrong one."""
import collections
import re

from . import ROOT, is_cpp, tracked

# Comments, raw strings, strings, characters, and lines of the preprocessor: braces in them are none. A ' between digits is no quote.
NO_CODE = re.compile(r'''//[^\n]* | /[*].*?[*]/ | R"(\w*)[(].*?[)]\1" | "(?:\\.|[^"\\\n])*" | (?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'
                         | ^[ \t]*[#](?:[^\n]*\\\n)*[^\n]*''', re.DOTALL | re.MULTILINE | re.VERBOSE)
NAMESPACE = re.compile(r"\b(?:inline\s+)?namespace(?:\s+([\w:]+))?\s*$")
TYPE = re.compile(r"\b(?:class|struct|union|enum(?:\s+(?:class|struct))?)\s+(?:\[\[.*?\]\]\s*|alignas[(].*?[)]\s*)*"
                  r"([\w:]+(?:\s*<.*>)?)\s*(?:final\s*)?(?:$|:(?!:))")


def types(text):
    """(line, name with its namespaces) of the types that another file can see: those in no anonymous namespace and no function."""
    text = NO_CODE.sub(lambda found: "\n" * found[0].count("\n"), text)
    scopes, begin = [], 0  # of a namespace its name, of anything else None
    for found in re.finditer(r"[{};]", text):
        head = " ".join(text[begin:found.start()].split())
        begin = found.end()
        if found[0] == "{":
            space, type_ = NAMESPACE.search(head), TYPE.search(head)
            if not space and type_ and None not in scopes and "(" not in head[: type_.start()]:
                yield text.count("\n", 0, found.start()) + 1, "::".join([*scopes, type_[1]])
            scopes.append(space[1] if space else None)
        elif found[0] == "}" and scopes:
            scopes.pop()


def check(report):
    """no type of a name that other files can see is defined in two files"""
    places = collections.defaultdict(list)
    # Programs of one file each are never linked together.
    alone = ("bench/", "examples/", "tests/fuzz/fuzz_", "tests/bridge/", "tests/package/")
    for path in tracked():
        if is_cpp(path) and not str(path).startswith(alone):
            for line, name in types((ROOT / path).read_text(errors="replace")):
                places[name].append(f"{path}:{line}")
    report.note = f"{len(places)} types"
    for name, found in places.items():
        if len(found) > 1:
            report.fail(f"{name} is defined at {' and '.join(found)}; rename one, or put it into an anonymous namespace")
