"""Run me: I say which bills are split wrongly, and end with 1 if any is."""

import sys

from split import split

EXPECTED = {
    (900, 3): [300, 300, 300],
    (1000, 3): [334, 333, 333],
    (1001, 2): [501, 500],
}

wrong = {bill: shares for bill, shares in EXPECTED.items() if split(*bill) != shares}
for bill, shares in wrong.items():
    print(f"FAIL split{bill} is {split(*bill)}, expected {shares}")
print(f"{len(EXPECTED) - len(wrong)} of {len(EXPECTED)} passed")
sys.exit(bool(wrong))
