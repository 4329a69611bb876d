"""CPU of `import stepsnb` against `import IPython` alone: fresh processes in turn, the ratio of the medians.

    python import_cost.py [--rounds 5]

Prints one JSON line. Bytecode is compiled by one uncounted round first.
"""
import argparse
import json
import resource
import statistics
import subprocess
import sys

STATEMENTS = ("import IPython", "import stepsnb")


def cpu_s(statement):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", statement], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rounds", type=int, default=5)
    rounds = p.parse_args().rounds
    taken = {statement: [] for statement in STATEMENTS}
    for statement in STATEMENTS:
        cpu_s(statement)
    for _ in range(rounds):
        for statement in STATEMENTS:
            taken[statement].append(cpu_s(statement))
    medians = {statement: statistics.median(times) for statement, times in taken.items()}
    print(json.dumps({
        "rounds": rounds,
        "cpu_ms": {statement: round(1e3 * seconds, 1) for statement, seconds in medians.items()},
        "ratio": round(medians["import stepsnb"] / medians["import IPython"], 2),
    }))
