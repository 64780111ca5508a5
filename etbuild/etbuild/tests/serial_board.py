"""A board on this machine: QEMU is the processor, and a pseudo-terminal the serial port, whose name is the link `port` in the folder of
the first argument. A file `firmware` that comes into the folder is taken, and runs until the standard input ends."""

import os
import pty
import subprocess
import sys
import threading
import time
import tty

emulator = None


def switch():
    """Waits for the end of the standard input, and ends all."""
    sys.stdin.read()
    if emulator:
        emulator.kill()
    os._exit(0)


threading.Thread(target=switch, daemon=True).start()

folder = sys.argv[1]
line, port = pty.openpty()
tty.setraw(port)
# What an earlier firmware wrote, or writes as the port is opened.
earlier = b'noise\n{"producer":"another"}\n{"outputs":"00"}\n{"exit":0}\n'
os.symlink(os.ttyname(port), os.path.join(folder, "port"))
flashed, firmware = os.path.join(folder, "firmware"), os.path.join(folder, "running")
while not os.path.exists(flashed):
    time.sleep(0.02)
os.write(line, earlier)
os.rename(flashed, firmware)
while "--silent" in sys.argv:
    time.sleep(1)
# Its second serial port is USART2. Without `-icount`, QEMU's system timer starts when its main thread comes to it.
machine = ["-machine", "netduinoplus2", "-icount", "shift=0", "-display", "none", "-monitor", "none", "-serial", "null", "-serial", "stdio"]
emulator = subprocess.Popen(["qemu-system-arm", *machine, "-kernel", firmware], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
while piece := os.read(emulator.stdout.fileno(), 64):
    os.write(line, piece)
while True:
    time.sleep(1)
