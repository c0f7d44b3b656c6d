"""A server under a fault: it answers right, says in a sentence why it cannot, or drops the connection; and it goes on."""
import http.client
import json
import re
import signal

QUESTION = json.dumps({"model": "verb-number", "text": "The keys to the cabinet", "row": "cls"})
ADDRESS = re.compile(rb"http://(127\.0\.0\.1:(\d+))/#token=([0-9a-f]{32})")


def answer(host, token, seconds=None):
    """The last line of the answer to QUESTION; b"" if the connection was dropped, or if there is none in `seconds`."""
    connection = http.client.HTTPConnection(host, timeout=seconds)
    try:
        connection.request("POST", "/ask", QUESTION, {"Origin": f"http://{host}", "Content-Type": "application/json",
                                                      "X-Headwater-Token": token})
        response = connection.getresponse()
        return response.read().splitlines()[-1] if response.status == 200 else b""
    except (OSError, http.client.HTTPException, IndexError):
        return b""
    finally:
        connection.close()


def is_sentence(line):
    """Whether an answer is {"error": "one sentence"}."""
    try:
        said = json.loads(line)["error"]
        return isinstance(said, str) and said != "" and "\n" not in said
    except (ValueError, KeyError, TypeError):
        return False


class Client:
    """Talks to a server that was started, and ends it. It waits as long as the server lives: a watch ends one that hangs."""

    def __init__(self, process):
        self.process, self.shown = process, b""
        self.host = self.token = None

    def find(self):
        """Waits for its address, or for its end."""
        if self.process.stdout is None:
            return
        while b"\n" not in self.shown:
            some = self.process.stdout.read1(4096)
            if not some:
                return
            self.shown += some
        if found := ADDRESS.search(self.shown):
            self.host, self.token = found[1].decode(), found[3].decode()

    def wrong(self, right, recovers):
        """What is wrong with its answers, or None. `recovers`: a second question is answered right."""
        if self.host is None:
            return None
        # Where a fault lasts, it need not answer, only end when it is told to.
        first = answer(self.host, self.token, None if recovers else 5)
        if first and first != right and not is_sentence(first):
            return f"answers with {first[:300]!r}"
        if recovers and first != right and self.process.poll() is None:
            second = answer(self.host, self.token)
            if second != right and self.process.poll() is None:
                return f"answers the second time with {second[:300]!r}"
        return None

    def end(self, signalled=False):
        """(standard output, standard error) of the rest. `signalled`: it was told to end before, and does so without a second
        signal; where nobody knows its address, it ends by itself."""
        if not signalled and self.host is not None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.communicate()
