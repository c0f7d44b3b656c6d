"""The kinds of fault. Each yields trials: a name, and a function from a folder of its own to what is wrong, or None."""
import errno
import functools
import os
import re
import resource
import shutil
import signal
import subprocess
import threading
import time

from commands import HEADWATER
from judge import Run

ERRORS = {
    "open": [errno.EACCES, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO, errno.EINTR, errno.ENOENT, errno.ENOSPC,
             errno.EROFS, errno.EOPNOTSUPP],
    "read": [errno.EIO, errno.EINTR, "short"],
    "write": [errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EFBIG, errno.EPIPE, errno.EINTR, "short"],
    "rename": [errno.EACCES, errno.EXDEV, errno.ENOSPC, errno.EROFS, errno.EIO],
    "linkat": [errno.EACCES, errno.ENOSPC, errno.EOPNOTSUPP, errno.EEXIST, errno.ENOENT],
    "fsync": [errno.EIO, errno.ENOSPC, errno.EINVAL],
    "mmap": [errno.ENOMEM, errno.EAGAIN, errno.ENODEV, errno.ENFILE],
    "pthread_create": [errno.EAGAIN],
}


class Bench:
    """What trials need: the commands, their inputs, the preloaded library, a source of chance."""

    def __init__(self, commands, inputs, library, scratch, random):
        self.commands, self.inputs, self.library, self.scratch, self.random = commands, inputs, library, scratch, random
        self.counts = {}  # of each command's calls
        self.known = 0  # ends by a signal that nothing can be done about here

    @functools.cached_property
    def nobody_can_run(self):
        """Whether the other user that limits on processes need can run the commands at all."""
        self.scratch.chmod(0o755)
        done = subprocess.run([HEADWATER, "info", self.inputs / "a.npy"], capture_output=True, preexec_fn=few_processes())
        if done.returncode != 0:
            print("limits on processes are not tried: another user cannot run the command where it is", flush=True)
        return done.returncode == 0

    def inputs_of(self, command):
        """The names of the files that a command reads."""
        given = [self.inputs / word.removeprefix("IN/") for word in command.words if word.startswith("IN/")]
        read = ("config.json", "tokenizer.json", "model.safetensors", "pytorch_model.bin")
        files = [path / name for path in given for name in read] + given
        return [str(path.relative_to(self.inputs)) for path in files if path.is_file()]

    def injected(self, command, **env):
        """The environment of a command in which calls fail; in Python only after it has opened its input."""
        late = {"FAULT_FROM": f"{self.inputs}/"} if command.in_python() else {}
        return {"LD_PRELOAD": str(self.library)} | late | env

    def count(self, command, call):
        """How often a run of the command makes a call."""
        if str(command) not in self.counts:
            place, count = self.scratch / "out", self.scratch / "count"
            shutil.rmtree(place, ignore_errors=True)
            wrong = Run(command, self.inputs, place, self.injected(command, FAULT_COUNT=str(count))).wrong()
            if wrong:
                raise SystemExit(f"{command}: {wrong}, with the calls only counted")
            self.counts[str(command)] = dict(line.split() for line in count.read_text().splitlines())
        return int(self.counts[str(command)][call])


def failing_call(bench, command, call, error, k, lasting):
    def trial(place):
        env = bench.injected(command, FAULT_CALL=call, FAULT_AT=str(k), FAULT_ERRNO=str(error))
        if lasting:
            env["FAULT_LASTING"] = "1"
        # Known: where no memory is left for good, GLib calls itself until the stack of a thread of Pango's is full; and
        # Arrow, which reads and writes Parquet, ends the process.
        known = (signal.SIGSEGV,) if lasting and call == "malloc" and command.draws() else ()
        if call in ("malloc", "mmap", "pthread_create") and command.in_python():
            known = (signal.SIGABRT, signal.SIGSEGV)
        # Without any memory Python, OpenSSL, Arrow and the loader all have words of their own.
        any_words = lasting and call in ("malloc", "mmap") and command.in_python()
        run = Run(command, bench.inputs, place, env, may_die_by=known, recovers=not lasting, any_words=any_words,
                  fonts_may_differ=call in ("malloc", "open", "read", "mmap"))
        wrong = run.wrong()
        bench.known += run.process.returncode in (-signal.SIGSEGV, -signal.SIGABRT)
        return wrong
    shown = errno.errorcode.get(error, error)
    return f"{call} {k} fails{' from then on' if lasting else ''} with {shown}", trial


def allocations(bench, most):
    """The k-th allocation fails, alone or with all that follow."""
    for command in bench.commands:
        count = bench.count(command, "malloc")
        for k in chosen(bench, count, most):
            for lasting in (False, True):
                yield command, *failing_call(bench, command, "malloc", errno.ENOMEM, k, lasting)


def calls(bench, most):
    """The k-th system call of a kind fails with each error that it can have."""
    for command in bench.commands:
        for call, errors in ERRORS.items():
            count = bench.count(command, call)
            for k in chosen(bench, count, most):
                for error in errors:
                    yield command, *failing_call(bench, command, call, error, k, False)
                    if isinstance(error, int) and error != errno.EINTR:
                        yield command, *failing_call(bench, command, call, error, k, True)


def chosen(bench, count, most):
    """All numbers from 1 to count, or `most` of them by chance."""
    return range(1, count + 1) if count <= most else sorted(bench.random.sample(range(1, count + 1), most))


NOBODY = 54321  # a user that owns no process: a limit on processes counts all of a user, and root has none


def few_processes(value=None):
    """Before a command starts: at most `value` processes and threads, its own included."""
    def set_limit():
        if value is not None:
            resource.setrlimit(resource.RLIMIT_NPROC, (value, value))
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
    return set_limit


def limited(bench, command, which, value):
    def trial(place):
        place.chmod(0o777)  # for NOBODY
        processes = which == resource.RLIMIT_NPROC
        run = Run(command, bench.inputs, place, fonts_may_differ=which == resource.RLIMIT_NOFILE,
                  preexec_fn=few_processes(value) if processes else lambda: resource.setrlimit(which, (value, value)))
        wrong = run.wrong()
        # The loader, not the command, ends with 127 where not even the libraries fit.
        return None if wrong and run.process.returncode == 127 else wrong
    return trial


def limits(bench, most):
    """Limits on address space, size of files, open files, and processes with their threads."""
    kinds = [(resource.RLIMIT_AS, "bytes of address space", range(16 << 20, 600 << 20, 3 << 20)),
             (resource.RLIMIT_FSIZE, "bytes a file", [0, 1, 100, 1000, 4096, 10000, 100000]),
             (resource.RLIMIT_NOFILE, "open files", range(3, 14))]
    if bench.nobody_can_run:
        kinds.append((resource.RLIMIT_NPROC, "processes and threads", range(1, 7)))
    for command in bench.commands:
        for which, name, values in kinds:
            if command.in_python() and which != resource.RLIMIT_FSIZE:
                continue  # the interpreter and its packages need most of it before the first line of ours
            values = list(values)
            for value in sorted(bench.random.sample(values, min(most, len(values)))):
                yield command, f"at most {value} {name}", limited(bench, command, which, value)


def signals(bench, most):
    """SIGINT, SIGTERM, SIGHUP and SIGKILL at moments of chance, with and without files that need no name."""
    for command in bench.commands:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
            for _ in range(most):
                wait = bench.random.uniform(0, 1.2) * command.seconds
                env = bench.random.choice([{}, {"LD_PRELOAD": str(bench.library), "FAULT_NO_TMPFILE": "1"}])

                def trial(place, command=command, number=number, wait=wait, env=env):
                    run = Run(command, bench.inputs, place, env, may_die_by=(number,),
                              preexec_fn=None if number == signal.SIGKILL else lambda: signal.signal(number, signal.SIG_DFL))
                    timer = threading.Timer(wait, run.process.send_signal, [number])
                    timer.start()  # meanwhile a server is asked
                    wrong = run.wrong()
                    timer.cancel()
                    timer.join()
                    return wrong
                named = " without nameless files" if env else ""
                yield command, f"{number.name} after {wait * 1000:.0f} ms{named}", trial


def surroundings(bench, most):
    """A full device, closed descriptors, odd locales, no fonts, no home, an unwritable or missing folder."""
    def full(place, command):
        with open("/dev/full", "wb") as device:
            run = Run(command, bench.inputs, place, stdout=device)
            wrong = run.wrong(printed=False)
            if not wrong and command.printed and run.status == 0:
                return "exit 0, though nothing could be printed"
            return wrong

    def closed(*descriptors):
        def trial(place, command):
            # They are closed in the child, so what they would have carried cannot be compared.
            run = Run(command, bench.inputs, place, preexec_fn=lambda: [os.close(number) for number in descriptors])
            wrong = run.wrong(printed=1 not in descriptors)
            return None if 2 in descriptors and run.status in (1, 2) and wrong and "0 lines" in wrong else wrong
        return trial

    def nobody_reads(place, command):
        reader, writer = os.pipe()
        os.close(reader)
        run = Run(command, bench.inputs, place, may_die_by=(signal.SIGPIPE,), stdout=writer)
        os.close(writer)
        return run.wrong(printed=False)

    def with_environment(**env):
        return lambda place, command: Run(command, bench.inputs, place, env).wrong()

    def two_writers(place, command):
        runs = [Run(command, bench.inputs, place) for _ in range(2)]
        return next(filter(None, [run.wrong() for run in runs]), None)

    def no_folder(place, command):
        run = Run(command, bench.inputs, place)
        shutil.rmtree(place)
        place.mkdir()
        wrong = run.wrong()
        return None if wrong and wrong.startswith("exit 0 without") else wrong

    kinds = {"standard output is full": full, "standard input is closed": closed(0),
             "standard output is closed": closed(1), "standard error is closed": closed(2),
             "all three are closed": closed(0, 1, 2), "nobody reads standard output": nobody_reads,
             "LC_ALL=tr_TR.UTF-8": with_environment(LC_ALL="tr_TR.UTF-8"),
             "LC_ALL=nonsense": with_environment(LC_ALL="nonsense"), "LC_ALL=C": with_environment(LC_ALL="C"),
             "no home": with_environment(HOME="/nonexistent"),
             "no nameless files": with_environment(LD_PRELOAD=str(bench.library), FAULT_NO_TMPFILE="1"),
             "no fonts": with_environment(FONTCONFIG_FILE="/dev/null"),
             "two writers": two_writers, "its folder is replaced": no_folder}
    for command in bench.commands:
        for name, kind in kinds.items():
            yield command, name, lambda place, command=command, kind=kind: kind(place, command)


def changing_inputs(bench, most):
    """Inputs that are cut short, replaced, written over or grow while they are read."""
    def cut(path, size):
        os.truncate(path, size // 3)

    def replace(path, size):
        other = path.with_suffix(".other")
        other.write_bytes(os.urandom(size))
        other.rename(path)

    def write_over(path, size):
        with open(path, "r+b") as file:
            file.seek(size // 4)
            file.write(os.urandom(size // 2))

    def grow(path, size):
        with open(path, "ab") as file:
            file.write(b"\0" * 4096)

    for command in bench.commands:
        for name in bench.inputs_of(command):
            for change in (cut, replace, write_over, grow):
                for _ in range(most):
                    wait = bench.random.uniform(0, 0.8) * command.seconds

                    def trial(place, command=command, name=name, change=change, wait=wait):
                        inputs = place.with_name(place.name + "-in")
                        shutil.copytree(bench.inputs, inputs)
                        size = (inputs / name).stat().st_size
                        run = Run(command, inputs, place, finishes=False)
                        time.sleep(wait)
                        change(inputs / name, size)
                        wrong = run.wrong(printed=False)
                        shutil.rmtree(inputs)
                        # The input may be read before or after the change, and its name differs: only how it ends
                        # counts. A block of attribute is named by the rows that were read.
                        other = "other bytes" in (wrong or "") or command.words[0] == "attribute" and \
                            re.fullmatch(r"left a file behind: \d{7}-[0-9a-f]{16}\.parquet", wrong or "")
                        return None if other else wrong
                    yield command, f"{name}: {change.__name__} after {wait * 1000:.0f} ms", trial


KINDS = {"allocations": allocations, "calls": calls, "limits": limits, "signals": signals,
         "surroundings": surroundings, "changing inputs": changing_inputs}
