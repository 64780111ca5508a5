"""The device's end of the Android Debug Bridge over TCP, for tests with the real `adb`: python3 adb_device.py FOLDER [refuse].

Speaks the public protocol of adb (AOSP, packages/modules/adb: protocol.txt, docs/dev/adb_internals): messages of 24 bytes, streams, and the
service `shell,v2`, whose packets carry the standard streams and the exit status. Commands run in a shell of this machine with FOLDER in
the place of /data/local/tmp. Writes the port to FOLDER/port. With `refuse`, asks for a signature and takes none.
"""

import os
import socket
import struct
import subprocess
import sys
import threading

FOLDER, REFUSES = os.path.abspath(sys.argv[1]), sys.argv[2:] == ["refuse"]
CNXN, OPEN, OKAY, WRTE, CLSE, AUTH = (int.from_bytes(name, "little") for name in (b"CNXN", b"OPEN", b"OKAY", b"WRTE", b"CLSE", b"AUTH"))
BANNER = b"device::ro.product.name=test;ro.product.model=test;ro.product.device=test;features=shell_v2,cmd"
STDIN, STDOUT, STDERR, EXIT, CLOSE_STDIN = range(5)


class Connection:
    """A connection of the adb server, with its streams by the number that this end gives."""

    def __init__(self, link):
        self.link, self.streams, self.lock = link, {}, threading.Lock()

    def send(self, command, first, second, data=b""):
        header = struct.pack("<6I", command, first, second, len(data), sum(data) & 0xFFFFFFFF, command ^ 0xFFFFFFFF)
        with self.lock:
            self.link.sendall(header + data)

    def read(self, size):
        data = b""
        while len(data) < size:
            part = self.link.recv(size - len(data))
            if not part:
                raise EOFError
            data += part
        return data

    def serve(self):
        try:
            while True:
                command, first, second, size, _, _ = struct.unpack("<6I", self.read(24))
                self.take(command, first, second, self.read(size))
        except (EOFError, OSError):
            for stream in list(self.streams.values()):
                stream.end()

    def take(self, command, first, second, data):
        if command in (CNXN, AUTH) and REFUSES:
            # A public key (3) waits for a person.
            if first != 3:
                self.send(AUTH, 1, 0, bytes(20))
        elif command == CNXN:
            self.send(CNXN, 0x01000001, 256 << 10, BANNER)
        elif command == OPEN:
            self.open(first, data.rstrip(b"\0").decode())
        elif command == WRTE and second in self.streams:
            self.send(OKAY, second, first)
            self.streams[second].take(data)
        elif command == OKAY and second in self.streams:
            self.streams[second].ready.release()
        elif command == CLSE and second in self.streams:
            self.streams.pop(second).end()

    def open(self, theirs, service):
        kind, _, script = service.partition(":")
        if not kind.startswith("shell,v2"):
            return self.send(CLSE, 0, theirs)
        ours = len(self.streams) + theirs * 1000 + 1
        self.streams[ours] = Shell(self, ours, theirs, script.replace("/data/local/tmp", FOLDER))
        self.send(OKAY, ours, theirs)
        self.streams[ours].start()


class Shell:
    """A stream with a shell."""

    def __init__(self, connection, ours, theirs, script):
        self.connection, self.ours, self.theirs = connection, ours, theirs
        self.ready, self.turn, self.buffer = threading.Semaphore(1), threading.Lock(), b""
        # adbd gives a command one socket for standard input and output.
        self.near, far = socket.socketpair()
        self.process = subprocess.Popen(["sh", "-c", script], stdin=far, stdout=far, stderr=subprocess.PIPE, cwd=FOLDER)
        far.close()

    def start(self):
        pipes = [(STDOUT, self.near), (STDERR, self.process.stderr)]
        readers = [threading.Thread(target=self.forward, args=pipe, daemon=True) for pipe in pipes]
        for reader in readers:
            reader.start()
        threading.Thread(target=self.finish, args=(readers,), daemon=True).start()

    def forward(self, kind, pipe):
        while part := os.read(pipe.fileno(), 32 << 10):
            self.packet(kind, part)

    def finish(self, readers):
        for reader in readers:
            reader.join()
        self.packet(EXIT, bytes([self.process.wait() & 0xFF]))
        self.connection.send(CLSE, self.ours, self.theirs)

    def packet(self, kind, data):
        with self.turn:
            self.ready.acquire()
            self.connection.send(WRTE, self.ours, self.theirs, struct.pack("<BI", kind, len(data)) + data)

    def take(self, data):
        self.buffer += data
        while len(self.buffer) >= 5:
            kind, size = struct.unpack("<BI", self.buffer[:5])
            if len(self.buffer) < 5 + size:
                return
            part, self.buffer = self.buffer[5 : 5 + size], self.buffer[5 + size :]
            if kind == STDIN:
                self.near.sendall(part)
            elif kind == CLOSE_STDIN:
                self.end()

    def end(self):
        try:
            self.near.shutdown(socket.SHUT_WR)
        except OSError:
            pass


listener = socket.create_server(("127.0.0.1", 0))
with open(os.path.join(FOLDER, "port.part"), "w") as file:
    file.write(str(listener.getsockname()[1]))
os.rename(os.path.join(FOLDER, "port.part"), os.path.join(FOLDER, "port"))
while True:
    threading.Thread(target=Connection(listener.accept()[0]).serve, daemon=True).start()
