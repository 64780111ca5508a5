#!/usr/bin/env python3
"""A server of a language model under many clients for minutes: errors, memory and fairness.

    load.py BINARY [--clients 64] [--minutes 10] [--slots 8] [--threads 2]

BINARY is a binary with a server (`server: true`), tiny-llama's for example. A client sends one request after the other: streams of
random lengths with prompts of random lengths, some of which the client breaks off, and some malformed requests. The script ends with status 1
if an answer is other than it should be, or if the server's counters say at the end that a job was left over.
"""
import argparse
import json
import random
import re
import signal
import sys
import threading
import time
import urllib.request
from collections import Counter
from pathlib import Path

from server import Server, connect, free_port

WORDS = "Once upon a time there was a little fox who lived by the old mill and wanted to see the sea".split()


class Client(threading.Thread):
    """Sends requests until the end, and counts what came of them."""

    def __init__(self, port, number, end):
        super().__init__()
        self.port, self.end, self.chance = port, end, random.Random(number)
        self.outcomes, self.tokens, self.wrong = Counter(), 0, []

    def run(self):
        while time.monotonic() < self.end:
            kind = self.chance.choices([self.whole, self.broken_off, self.malformed], [90, 7, 3])[0]
            try:
                kind()
                self.outcomes[kind.__name__] += 1
            except Exception as error:
                self.wrong.append(f"{kind.__name__}: {error!r}")

    def request(self, body):
        connection = connect(self.port)
        connection.request("POST", "/v1/completions", body, {"Content-Type": "application/json"})
        return connection, connection.getresponse()

    def stream(self):
        prompt = " ".join(self.chance.choices(WORDS, k=self.chance.randrange(1, 40)))
        asked = dict(prompt=prompt, max_tokens=self.chance.randrange(4, 64), temperature=0.8, seed=self.chance.randrange(1 << 30),
                     stream=True, stream_options=dict(include_usage=True))
        connection, response = self.request(json.dumps(asked))
        assert response.status == 200, (response.status, response.read())
        return connection, response

    def whole(self):
        connection, response = self.stream()
        events = [line[6:].strip() for line in response if line.startswith(b"data: ")]
        assert events[-1] == b"[DONE]", events[-1]
        self.tokens += json.loads(events[-2])["usage"]["completion_tokens"]
        connection.close()

    def broken_off(self):
        connection, response = self.stream()
        response.readline()
        response.close()
        connection.close()

    def malformed(self):
        body = self.chance.choice(['{"prompt": ', '{"prompt": 3.5}', '{"prompt": "a", "max_tokens": -1}', '{"prompt": "a", "colour": 1}', "[]"])
        connection, response = self.request(body)
        assert response.status in (400, 422), response.status
        response.read()
        connection.close()


def counters(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as response:
        return {name: float(value) for name, value in re.findall(r"^(\w+) ([\d.e+-]+)$", response.read().decode(), re.M)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=Path)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--slots", type=int, default=8)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    port = free_port()
    server = Server([arguments.binary.resolve(), "--serve", f"127.0.0.1:{port}", "--slots", str(arguments.slots), "--threads", str(arguments.threads)], port)
    end = time.monotonic() + 60 * arguments.minutes
    clients = [Client(port, number, end) for number in range(arguments.clients)]
    for client in clients:
        client.start()
    print("| part of the time | memory, MiB | open files |\n|---|---|---|", flush=True)
    for part in range(1, 6):
        time.sleep(max(0, end - (5 - part) * 12 * arguments.minutes - time.monotonic()))
        print(f"| {part}/5 | {server.memory('VmRSS'):.1f} | {server.open_files()} |", flush=True)
    for client in clients:
        client.join()
    time.sleep(1)
    left = {name: value for name, value in counters(port).items() if name in ("etbuild_running", "etbuild_waiting") and value}
    server.process.send_signal(signal.SIGTERM)
    status = server.process.wait(timeout=30)
    outcomes = sum((client.outcomes for client in clients), Counter())
    wrong = [text for client in clients for text in client.wrong]
    tokens = [client.tokens for client in clients]
    print(f"requests: {dict(outcomes)}, wrong: {len(wrong)} {wrong[:3]}")
    print(f"tokens of a client: {min(tokens)} to {max(tokens)}; {sum(tokens) / (60 * arguments.minutes):.0f} a second in all")
    print(f"left over: {left or 'nothing'}; exit status {status}")
    sys.exit(bool(wrong or left or status))


if __name__ == "__main__":
    main()
