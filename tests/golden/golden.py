"""What the case scripts share: runs of the program, and strict readers of what it writes.

The readers here are written from mptrain-log(5) and mptrain-checkpoint(5), not from the program, so
they also test that those pages are right.
"""
import json
import os
import struct
import subprocess
import zlib

PROGRAM = os.environ["MPTRAIN"]
NUMERIC, INTERRUPTED = 5, 130  # exit codes


def call(*words, code=0, env=None, **keys):
    """Runs the program; checks its exit code; gives back (standard output, standard error)."""
    p = subprocess.run([PROGRAM, *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True,
                       timeout=120, env={**os.environ, **(env or {})}, **keys)
    out, err = p.stdout.decode(errors="replace"), p.stderr.decode(errors="replace")
    assert p.returncode == code, (words, "exit code", p.returncode, "expected", code, out, err)
    return out, err


def write(path, text):
    with open(path, "wb") as f:
        f.write(text if isinstance(text, bytes) else text.encode())
    return path


def sets(changes):
    return [word for key, value in changes.items() for word in ("--set", f"{key}={value}")]


def train(config, out, *words, code=0, **changes):
    """Trains in the folder `out`; `a__b=1` sets a.b. Gives back standard error."""
    changes = {key.replace("__", "."): value for key, value in changes.items()}
    return call("train", config, "--out", out, "--threads", 1, "-q", *sets(changes), *words,
                code=code)[1]


def lab(path, rows="1,0", weight="1", extra=""):
    """Lab A of the head of `labs`: one weight, y = w x in FP16, loss (y - t)^2, SGD, lr 1/8."""
    write(path + ".csv", "x,t\n" + "".join(row + "\n" for row in rows.split()))
    return write(path + ".yaml", f"""
data: {{type: csv, train: {{file: {path}.csv}}, shuffle: false}}
model:
  - linear: {{name: y, units: 1, bias: false, init: constant, init_scale: {weight}}}
loss: mse
precision: {{compute: fp16}}
optimizer: {{type: sgd, lr: 0.125}}
train: {{batch: 1, steps: 1, eval: {{every_epochs: 0}}}}
checkpoint: {{every_steps: 1, keep: 0}}
{extra}""")


def no_constant(word):
    raise ValueError(f"bare {word} in the log")


def log(run):
    """Every record, each line parsed strictly: NaN and Infinity are no JSON."""
    with open(f"{run}/log.jsonl", "rb") as f:
        text = f.read()
    assert text.endswith(b"\n"), (run, "half a line at the end")
    return [json.loads(line.decode("utf-8"), parse_constant=no_constant)
            for line in text.splitlines()]


def records(run, *types):
    return [r for r in log(run) if r["type"] in types]


def columns(run, *names):
    """These fields of every step."""
    return [tuple(r[name] for name in names) for r in records(run, "step")]


TIMES = "step_ms", "seconds", "segment", "write_ms"


def history(run):
    """What happened at each step, without times; of a step that was run twice the last one counts."""
    out = {}
    for r in records(run, "step", "overflow", "scale", "eval"):
        out[r["type"], r["step"]] = {k: v for k, v in r.items() if k not in TIMES}
    return out


def checkpoints(run):
    return sorted(os.listdir(f"{run}/checkpoints"))


class Checkpoint:
    """header: the JSON; bits: name of a tensor to the FP32 bits of its elements."""

    def __init__(self, path):
        with open(path, "rb") as f:
            b = f.read()
        assert b[:8] == b"MPTRAIN1"
        length, crc = struct.unpack("<II", b[8:16])
        assert zlib.crc32(b[16:16 + length]) == crc
        self.header = json.loads(b[16:16 + length], parse_constant=no_constant)
        self.progress = self.header["progress"]
        self.bits, end = {}, 16 + length
        for t in self.header["tensors"]:
            assert t["offset"] == end and t["dtype"] == "fp32"
            at, planes = end, []
            for plane in t["planes"]:
                raw = b[at:at + plane["bytes"]]
                planes.append(zlib.decompress(raw) if plane["packing"] == "deflate" else raw)
                at += plane["bytes"]
            end += t["stored"]
            assert at == end and zlib.crc32(b"".join(planes)) == t["crc32"]
            self.bits[t["name"]] = [sum(byte << 8 * i for i, byte in enumerate(element))
                                    for element in zip(*planes)]
        assert end == len(b)


def saved(run, step):
    return Checkpoint(f"{run}/checkpoints/step-{step:08d}.mpt")


def bits(x):
    """Of the FP32 nearest to x."""
    return struct.unpack("<I", struct.pack("<f", x))[0]


def equal(what, got, want):
    assert got == want, f"{what}:\n     got {got}\nexpected {want}"


def weight(what, run, step, want, name="y.weight"):
    """want: the FP32 bits of the first element, or a value that FP32 holds exactly."""
    want = want if isinstance(want, int) else bits(want)
    equal(what, f"{saved(run, step).bits[name][0]:08X}", f"{want:08X}")
