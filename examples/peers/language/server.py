#!/usr/bin/env python3
"""Servers of language models under load: `etbuild serve` beside `llama-server`, on the processor of this machine.

    server.py --etbuild ETBUILD --llama LLAMA_SERVER --work FOLDER [--clients 1,8] [--threads 2] [--rounds 3]

The model has Qwen3-0.6B's shape, random weights and a random tokenizer; etbuild's weights are `8da4w` in groups of 32, llama.cpp's are `Q4_0`. A
client sends one request after the other: a prompt of `--prompt` tokens of its own, and an answer of `--answer` tokens as a stream. A round
is a minute or less with each server, one after the other; the other one waits without work. The table has medians over the rounds. The second table
has the time to the first token of a client that comes alone, and of one that comes while all other slots continue texts.
"""
import argparse
import http.client
import json
import random
import socket
import subprocess
import threading
import time
from pathlib import Path
from statistics import median

from qwen3 import quantize, random_vocabulary, write_checkpoint, write_gguf, write_tokenizer

LAYERS, VOCABULARY = 28, 151936
RECIPE = """etbuild: 1
name: qwen3
model: {{ checkpoint: {checkpoint} }}
export: {{ context: 1024 }}
quantize: {{ scheme: 8da4w, group_size: 32, embedding: 4w }}
server: true
targets: [linux-x86_64]
"""


def free_port():
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return made.getsockname()[1]


def connect(port):
    return http.client.HTTPConnection("127.0.0.1", port, timeout=600)


class Server:
    """A server, once it answers."""

    def __init__(self, words, port):
        self.port = port
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not self.is_ready():
            if self.process.poll() is not None:
                raise SystemExit(f"{words[0]} ended with status {self.process.returncode}")
            time.sleep(0.1)

    def is_ready(self):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
        except OSError:
            return False

    def answer(self, prompt, count):
        """Seconds to the first token, and the number of tokens."""
        connection = connect(self.port)
        asked = dict(prompt=prompt, max_tokens=count, temperature=0, stream=True, stream_options=dict(include_usage=True))
        start = time.perf_counter()
        connection.request("POST", "/v1/completions", json.dumps(asked), {"Content-Type": "application/json"})
        response = connection.getresponse()
        assert response.status == 200, response.read()
        first, made = None, None
        for line in response:
            if not line.startswith(b"data: {"):
                continue
            event = json.loads(line[6:])
            first = first or time.perf_counter() - start
            made = (event.get("usage") or {}).get("completion_tokens", made)
        return first, made

    def load(self, clients, requests, prompt, count, chance):
        """Tokens a second of all clients, and the median time to the first token in milliseconds."""
        times, tokens = [], []

        def client(prompts):
            for one in prompts:
                first, made = self.answer(one, count)
                times.append(first)
                tokens.append(made)

        prompts = [[[chance.randrange(300, 20000) for _ in range(prompt)] for _ in range(requests)] for _ in range(clients)]
        threads = [threading.Thread(target=client, args=(own,)) for own in prompts]
        start = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(tokens) == clients * requests
        return sum(tokens) / (time.perf_counter() - start), median(times) * 1e3

    def arrivals(self, others, prompt, chance):
        """The median time to the first token in milliseconds, of a client that comes while `others` answers are in progress."""
        def tokens():
            return [chance.randrange(300, 20000) for _ in range(prompt)]

        background = [threading.Thread(target=self.answer, args=(tokens(), 400)) for _ in range(others)]
        for thread in background:
            thread.start()
        # The prompts of the others have been read by then.
        self.answer(tokens(), 1)
        times = []
        while len(times) < 8 and all(thread.is_alive() for thread in background):
            # Clients come at any moment of a step, not right after the answer before.
            time.sleep(chance.uniform(0, 0.1))
            times.append(self.answer(tokens(), 1)[0])
        for thread in background:
            thread.join()
        return median(times) * 1e3

    def memory(self, kind="VmHWM"):
        """MiB: the most so far, or the present ones with `VmRSS`."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith(kind)).split()[1]) / 1024

    def open_files(self):
        return len(list(Path(f"/proc/{self.process.pid}/fd").iterdir()))


def prepare(arguments):
    work = arguments.work
    work.mkdir(parents=True, exist_ok=True)
    model = work / "server-q4_0.gguf"
    if not model.exists():
        made = random_vocabulary(VOCABULARY)
        write_checkpoint(work / "served", LAYERS, VOCABULARY)
        write_tokenizer(work / "served", made)
        write_gguf(work / "server-f16.gguf", LAYERS, VOCABULARY, made)
        quantize(Path(arguments.llama).parent, work / "server-f16.gguf", model, 2)
    recipe = work / "server.yaml"
    recipe.write_text(RECIPE.format(checkpoint=(work / "served").resolve()))
    subprocess.run([arguments.etbuild, "build", recipe, "--out", work / "out"], check=True)
    return work / "out" / "qwen3" / "linux-x86_64" / "qwen3", model


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--etbuild", required=True)
    parser.add_argument("--llama", required=True)
    parser.add_argument("--work", required=True, type=Path)
    parser.add_argument("--clients", default="1,8")
    parser.add_argument("--threads", default="2")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--prompt", type=int, default=64)
    parser.add_argument("--answer", type=int, default=64)
    parser.add_argument("--requests", type=int, default=2)
    arguments = parser.parse_args()
    binary, model = prepare(arguments)
    threads, clients = arguments.threads, [int(count) for count in arguments.clients.split(",")]
    most, ports = max(clients), [free_port(), free_port()]
    ours = Server([binary, "--serve", f"127.0.0.1:{ports[0]}", "--slots", str(most), "--threads", threads], ports[0])
    theirs = Server([arguments.llama, "-m", model, "--port", str(ports[1]), "-np", str(most), "-c", str(1024 * most), "-t", threads, "-tb", threads,
                     "--no-webui"], ports[1])
    try:
        chance = random.Random(1)
        for server in (ours, theirs):
            server.load(1, 1, arguments.prompt, 8, chance)
        print("| clients | tokens a second: etbuild | llama-server | ratio | first token, ms: etbuild | llama-server | ratio |\n|---|---|---|---|---|---|---|")
        for count in clients:
            # A round has four answers or more.
            requests = max(arguments.requests, -(-4 // count))
            rounds = [[server.load(count, requests, arguments.prompt, arguments.answer, chance) for server in (ours, theirs)]
                      for _ in range(arguments.rounds)]
            (speed, first), (other, later) = ([median(numbers) for numbers in zip(*kind)] for kind in zip(*rounds))
            print(f"| {count} | {speed:.1f} | {other:.1f} | {speed / other:.2f} | {first:.0f} | {later:.0f} | {first / later:.2f} |", flush=True)
        print("\n| first token, ms | etbuild | llama-server |\n|---|---|---|")
        for others in (0, most - 1):
            rounds = [[server.arrivals(others, arguments.prompt, chance) for server in (ours, theirs)] for _ in range(arguments.rounds)]
            first, later = (median(times) for times in zip(*rounds))
            print(f"| beside {others} answers | {first:.0f} | {later:.0f} |", flush=True)
        print(f"memory, MiB: {ours.memory():.0f} and {theirs.memory():.0f}")
    finally:
        for server in (ours, theirs):
            server.process.kill()


if __name__ == "__main__":
    main()
