#!/usr/bin/env python3
"""Makes the four digits-*.idx.gz from digits.csv.gz of Debian's python3-sklearn.

    apt-get download python3-sklearn
    dpkg-deb -x python3-sklearn_*.deb sklearn
    ./make-digits.py sklearn/usr/lib/python3/dist-packages/sklearn/datasets/data/digits.csv.gz .

The split and the origin of the data are told in README.md. Only the standard library is used."""

import gzip
import hashlib
import pathlib
import struct
import sys

SOURCE_SHA256 = "46abec6b12486ad9e51943373abcf22bbea1b5a51a1619b361570d8893f1464a"
ROWS, SIDE, TRAIN_ROWS = 1797, 8, 1437
UBYTE = 0x08


def idx(dims, payload):
    """An IDX file of unsigned bytes."""
    return struct.pack(f">BBBB{len(dims)}I", 0, 0, UBYTE, len(dims), *dims) + payload


def write(path, content):
    """gzip without a name or a time, so that the bytes depend on the content only."""
    path.write_bytes(gzip.compress(content, compresslevel=9, mtime=0))
    print(hashlib.sha256(path.read_bytes()).hexdigest(), "", path.name)


def main(source, folder):
    packed = pathlib.Path(source).read_bytes()
    if hashlib.sha256(packed).hexdigest() != SOURCE_SHA256:
        sys.exit(f"{source}: not the digits.csv.gz that these data sets are made of")
    table = [[int(cell) for cell in line.split(",")]
             for line in gzip.decompress(packed).decode("ascii").splitlines()]
    assert len(table) == ROWS and all(len(row) == SIDE * SIDE + 1 for row in table)
    for split, rows in ("train", table[:TRAIN_ROWS]), ("test", table[TRAIN_ROWS:]):
        images = b"".join(bytes(row[:-1]) for row in rows)
        labels = bytes(row[-1] for row in rows)
        base = pathlib.Path(folder)
        write(base / f"digits-{split}-images.idx.gz", idx((len(rows), SIDE, SIDE), images))
        write(base / f"digits-{split}-labels.idx.gz", idx((len(rows),), labels))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: make-digits.py DIGITS.CSV.GZ FOLDER")
    main(sys.argv[1], sys.argv[2])
