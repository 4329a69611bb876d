"""CPU of a matrix of 1,000 `true` cells against spawning 1,000 `sh -c true` from asyncio, and memory a cell.

    python matrix_cost.py [--rounds 3] [--cells 1000]

Prints one JSON line. Each figure is from a fresh process: `ratio` that of the medians of CPU, children included (the
bar is 3), `kb_per_cell` the growth of the peak from half as many cells and from as many to twice as many (the bar is
20, and that it stays the same).
"""
import argparse
import json
import statistics
import subprocess
import sys

SPAWN = """
import asyncio
async def spawn():
    for _ in range(0, N, 8):
        started = [await asyncio.create_subprocess_exec("sh", "-c", "true") for _ in range(8)]
        for process in started:
            await process.wait()
began = cpu_s()
asyncio.run(spawn())
"""
MATRIX = """
import tempfile
import stepsnb
values = ", ".join(f"v{n}" for n in range(N))
step = "{task: t, across: [{var: x, values: [%s]}], max_in_flight: 8, run: 'true'}" % values
pipeline = stepsnb.load("jobs: [{name: j, plan: [%s]}]" % step)
with tempfile.TemporaryDirectory() as store:
    began = cpu_s()
    run = pipeline.run(store=store)
assert (run.outcome, len(run.steps)) == ("succeeded", N), run.error
"""
MEASURE = """
import json, resource
def cpu_s():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)
N = {n}
{code}
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([cpu_s() - began, peak]))
"""


def measure(code, n):
    script = MEASURE.replace("{n}", str(n)).replace("{code}", code)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


if __name__ == "__main__":
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--cells", type=int, default=1000)
    args = p.parse_args()
    spawned, ran = [], []
    for _ in range(args.rounds):
        spawned.append(measure(SPAWN, args.cells)[0])
        ran.append(measure(MATRIX, args.cells))
    half, whole, twice = (
        measure(MATRIX, args.cells // 2)[1],
        statistics.median(peak for _, peak in ran),
        measure(MATRIX, args.cells * 2)[1],
    )
    cpu, base = statistics.median(seconds for seconds, _ in ran), statistics.median(spawned)
    print(json.dumps({
        "cells": args.cells, "rounds": args.rounds, "cpu_s": round(cpu, 2), "spawn_cpu_s": round(base, 2),
        "ratio": round(cpu / base, 2),
        "kb_per_cell": [
            round((whole - half) / (args.cells / 2), 1),
            round((twice - whole) / args.cells, 1),
        ],
    }))
