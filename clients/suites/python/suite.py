"""Counts the cases of one client: a case that fails is named with its reason,
and the last line of the program has both counts."""

import base64
import json
import os
import sys
import traceback


class Suite:
    def __init__(self, name):
        self.name, self.passed, self.failed = name, 0, 0

    def case(self, name):
        """Decorates a function that is one case: what it raises is its failure."""

        def run(body):
            try:
                body()
            except Exception as e:  # noqa: BLE001 - every failure of a client counts
                self.failed += 1
                where = traceback.extract_tb(e.__traceback__)[-1]
                print(f"FAIL {self.name}: {name}: {type(e).__name__}: {e} ({os.path.basename(where.filename)}:{where.lineno})")
            else:
                self.passed += 1

        return run

    def end(self):
        print(f"{self.name}: {self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed or not self.passed else 0)


def equal(what, got, want):
    if got != want:
        raise AssertionError(f"{what}: got {got!r}, want {want!r}")


def contains(what, got, part):
    if part not in got:
        raise AssertionError(f"{what}: {part!r} is not in {got!r}")


def arguments():
    if len(sys.argv) != 4 or sys.argv[3] not in ("write", "read"):
        print(f"usage: {os.path.basename(sys.argv[0])} URL EXCHANGE write|read", file=sys.stderr)
        sys.exit(64)
    return sys.argv[1:]


class Exchange:
    """The folder of messages; see ../exchange/README.md."""

    def __init__(self, folder):
        self.folder = folder
        self.values = json.loads(self.shared("values.json"))

    @staticmethod
    def shared(name):
        here = os.path.dirname(os.path.abspath(__file__))
        with open(os.path.join(here, "..", "exchange", name), encoding="utf-8") as f:
            return f.read()

    def put(self, client, format, message, framing, value, header=None):
        m = {"client": client, "format": format, "message": message, "framing": framing, "value": base64.b64encode(value).decode()}
        if header is not None:
            m["header"] = base64.b64encode(header).decode()
        with open(os.path.join(self.folder, f"{client}.{format}.{message}.{framing}.json"), "w", encoding="utf-8") as f:
            json.dump(m, f)

    def messages(self):
        found = []
        for name in sorted(os.listdir(self.folder)):
            with open(os.path.join(self.folder, name), encoding="utf-8") as f:
                m = json.load(f)
            m["file"] = name
            m["value"] = base64.b64decode(m["value"])
            m["header"] = base64.b64decode(m["header"]) if "header" in m else None
            found.append(m)
        return found
