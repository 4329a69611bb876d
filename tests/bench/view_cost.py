"""What the live view costs a kernel while 2,000 deltas arrive, 3 ms apart: thread CPU of its flushes, lag of the loop.

    python view_cost.py [--rounds 5] [--deltas 2000]

Prints one JSON line. A real kernel runs the cell; this script answers as a front end does. `flush_ms` is the CPU of the
dearest flush of all rounds (the bar is 20), `lag_ratio` the median over rounds of the 99th percentile of the loop's lag
during the run divided by that of the same kernel idle just before it (the bar is 2).
"""
import argparse
import json
import pathlib
import queue
import statistics
import sys
import tempfile
import time

from jupyter_client.manager import KernelManager

SETUP = """
%load_ext stepsnb
import asyncio, json, time
from stepsnb.notebook.widgets.run_view import RunView
flushes, flush = [], RunView.flush
def timed(self):
    began = time.thread_time()
    flush(self)
    flushes.append(time.thread_time() - began)
RunView.flush = timed
async def sample(lags):
    while True:
        due = time.perf_counter() + 0.005
        await asyncio.sleep(0.005)
        lags.append(time.perf_counter() - due)
def p99(lags):
    return sorted(lags)[int(len(lags) * 0.99)]
"""
IDLE = """
idle = []
sampler = asyncio.create_task(sample(idle))
await asyncio.sleep(6)
sampler.cancel()
busy = []
sampler = asyncio.create_task(sample(busy))
"""
RUN = """%%steps
agents:
- name: writer
  source: { model: scripted/stream.yml }
jobs:
- name: stream
  plan:
  - agent: writer
    messages: ["Write."]
"""
RESULT = """
sampler.cancel()
print(json.dumps({"flush_s": max(flushes), "flushes": len(flushes), "idle": p99(idle), "busy": p99(busy)}))
"""


def run(client, code):
    """Run a cell as a front end with widgets does, and return what it printed."""
    request = client.execute(code, allow_stdin=True)
    printed, reply, is_idle = "", None, False
    while not (reply and is_idle):
        for channel in (client.iopub_channel, client.shell_channel):
            try:
                message = channel.get_msg(timeout=0.01)
            except queue.Empty:
                continue
            content = message["content"]
            if message["msg_type"] == "comm_msg" and content["data"].get("content", {}).get("t") == "ping":
                data = {"comm_id": content["comm_id"], "data": {"method": "custom", "content": {"t": "pong"}}}
                client.shell_channel.send(client.session.msg("comm_msg", data))
            if message["parent_header"].get("msg_id") != request:
                continue
            if message["msg_type"] == "execute_reply":
                reply = content
            elif message["msg_type"] == "status":
                is_idle = content["execution_state"] == "idle"
            elif message["msg_type"] == "stream":
                printed += content["text"]
    if reply["status"] != "ok":
        sys.exit(f"{reply['ename']}: {reply['evalue']}")
    return printed


def main(rounds, deltas):
    with tempfile.TemporaryDirectory() as folder:
        text = " ".join(f"w{n % 100:02}" for n in range(deltas))
        script = f'version: 1\nreplies:\n- text: "{text}"\n  delay_s: 0.003\n'
        (pathlib.Path(folder) / "stream.yml").write_text(script)
        manager = KernelManager(kernel_name="python3")
        manager.start_kernel(cwd=folder)
        client = manager.client()
        client.start_channels()
        try:
            client.wait_for_ready(timeout=60)
            run(client, SETUP)
            run(client, RUN)  # warm
            found = []
            for _ in range(rounds):
                run(client, IDLE)
                run(client, RUN)
                time.sleep(0.1)
                found.append(json.loads(run(client, RESULT)))
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)
    return {
        "deltas": deltas, "rounds": rounds, "flushes": found[-1]["flushes"],
        "flush_ms": round(1000 * max(each["flush_s"] for each in found), 1),
        "idle_p99_ms": round(1000 * statistics.median(each["idle"] for each in found), 2),
        "busy_p99_ms": round(1000 * statistics.median(each["busy"] for each in found), 2),
        "lag_ratio": round(statistics.median(each["busy"] / each["idle"] for each in found), 2),
    }


if __name__ == "__main__":
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--deltas", type=int, default=2000)
    args = p.parse_args()
    print(json.dumps(main(args.rounds, args.deltas)))
