#!/usr/bin/env python3
"""Writes golden.txt: what the oracle of the specification says of made-up lists of operations, for tests/oracle.rs.

    golden.py ORACLE > golden.txt

ORACLE is io-model.py, which stands beside the specification io.md (not in this repository). The lists are made with the same
pseudo-random numbers by oracle.rs: whoever changes one changes both. Of the first lists the whole text is written, of the others a hash.
"""
import importlib.util
import sys

LISTS, WHOLE = 500, 180
LAYERS = ("isoc", "mpi", "posix")
SIZES = (96, 1000, 4096, 1 << 20)


def random(seed):
    state = seed

    def draw(below):
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        return (state >> 33) % below
    return draw


def orderly(draw, op):
    """Ranks that repeat a pattern in some steps."""
    ranks, steps, naming, api = 1 + draw(4), 1 + draw(5), draw(4), draw(3)
    coll, nb, ptr = draw(3) == 0, draw(4) == 0, "eis"[draw(3)]
    slots = [("WR"[draw(2)], SIZES[draw(4)]) for _ in range(1 + draw(3))]
    rep, layout, k = 1 + draw(40 if draw(4) == 0 else 12), draw(5), 1 + draw(4)
    noise, vary, empty, reopen, pause = draw(3) == 0, draw(3) == 0, draw(5) == 0, draw(4) == 0, draw(2) * 100
    for rank in range(ranks):
        clock, tick = draw(50), 0
        for step in range(steps):
            tick += pause
            name = ("f", f"r.{rank}", f"out.{step}.h5", "ab"[step % 2])[naming]
            common = dict(rank=rank, file=name, open=1 + (reopen and step > 1), epoch=step if pause else 0)
            if noise and rank == 0:
                op(kind="W", api="mpi", coll=0, nb=0, ptr="e", offset=0, size=SIZES[draw(4)] // 8, tick=tick, begin=clock,
                   end=clock + 1, first=0, length=None, **common)
            for i in range(rep):
                for j, (kind, size) in enumerate(slots):
                    size = 0 if empty and rank == ranks - 1 else size + 8 * rank if vary else size
                    drawn = draw(1000)
                    at = (rank * rep + i, i * ranks + rank, i // k * k * ranks + rank * k + i % k, drawn, i)[layout]
                    at = (at + step * rep * ranks) * SIZES[3] if layout == 3 else (at + step * rep * ranks) * size
                    tick += draw(2) if draw(4) == 0 else 0
                    clock += draw(20)
                    long = 1 + draw(30)
                    op(kind=kind, api=LAYERS[api], coll=int(coll), nb=int(nb), ptr=ptr, offset=at, size=size, tick=tick, begin=clock,
                       end=clock + long, first=at + 3 * j, length=size * 2 if layout == 4 else None, **common)
                    clock += long


def disorderly(draw, op):
    """Anything."""
    ranks, count = 1 + draw(3), 1 + draw(40)
    for rank in range(ranks):
        clock = tick = epoch = 0
        opened = 1
        for _ in range(count):
            clock += draw(20)
            tick += (0, 0, 1, 7)[draw(4)]
            epoch += draw(8) == 0
            opened += draw(12) == 0
            size = (SIZES[draw(4)], 100 + draw(40), draw(3), 1000)[draw(4)]
            at = draw(8) * 1000
            long = draw(30)
            op(rank=rank, file=("f", "o1", "o2", "p.1.x")[draw(4)], open=opened, kind="WR"[draw(2)], api=LAYERS[draw(2)],
               coll=int(draw(4) == 0), nb=0, ptr="ei"[draw(2)], offset=at, size=size, tick=tick, epoch=epoch, begin=clock,
               end=clock + long, first=at + 8 * draw(2), length=size + 8 if draw(4) == 0 else None)
            clock += long


def made(oracle, seed):
    draw, ops = random(seed), []

    def op(length, size, **others):
        ops.append(oracle.Op(length=size if length is None else length, size=size, **others))
    (disorderly if draw(3) == 0 else orderly)(draw, op)
    return ops, draw(3) * 4


def text(oracle, ops, gap):
    found, lines = oracle.phases(ops, gap), []
    for p in found:
        lines.append(f"{p.weight} {p.begin} {p.end} {p.time}")
    for f in oracle.families(found):
        p = f.first
        pattern = "+".join(k + api + f"{coll}{nb}{ptr}" for k, api, coll, nb, ptr in p.pattern)
        fits = " ".join("-" if fit is None else ",".join(map(str, fit)) for fit in (oracle.fit(f, "offset"), oracle.fit(f, "first")))
        ranks = ",".join(map(str, p.ranks))
        rs = p.rs if p.np else [0] * (1 if p.residue else len(p.pattern))  # the oracle has one number where nothing moves
        lines.append(f"{oracle.ranges(f.numbers)} {p.key[0]} {pattern} {int(p.residue)} {p.mode} {p.disp} {int(p.holes)} {ranks}"
                     f" {p.np} {p.rep} {'+'.join(map(str, rs))} {int(p.uniform)} {f.weight} {f.time} {fits}")
        if p.np and not (p.residue and len(p.pattern) > 1):  # the oracle has no lines for these
            commands, remarks = oracle.ior(f)
            lines += commands + ["# " + remark for remark in remarks]
    return "".join(line + "\n" for line in lines)


def hashed(string):
    value = 0xcbf29ce484222325
    for byte in string.encode():
        value = (value ^ byte) * 0x100000001b3 % (1 << 64)
    return f"{value:016x}"


def main(path):
    spec = importlib.util.spec_from_file_location("oracle", path)
    oracle = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(oracle)
    for seed in range(LISTS):
        said = text(oracle, *made(oracle, seed))
        print(f"= {seed} {hashed(said)}")
        if seed < WHOLE and len(said) < 1500:
            print(said, end="")


main(sys.argv[1])
