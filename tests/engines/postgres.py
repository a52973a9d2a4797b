"""A PostgreSQL server in a temporary folder, behind a unix socket, for the length of some tests."""

import contextlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

PLACES = [str(path) for path in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]


def programs():
    """Return the folder of the server's programs, None if there is no server."""
    found = shutil.which("pg_ctl", path=os.pathsep.join([*PLACES, os.environ.get("PATH", "")]))
    return None if found is None else Path(found).parent


class Server:
    """The server; it refuses to run as root, so it then runs as nobody."""

    def __init__(self, folder):
        self.folder, self.uri = folder, f"postgresql://knoll@/postgres?host={folder}"

    def run(self, program, *args):
        user = {"user": "nobody"} if os.getuid() == 0 else {}
        env = {"PATH": os.environ["PATH"], "HOME": self.folder, "LC_ALL": "C"}
        command = [str(programs() / program), "-D", f"{self.folder}/data", *args]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=self.folder, env=env, **user)

    def start(self):
        options = f"-k {self.folder} -c listen_addresses='' -c fsync=off"
        self.run("pg_ctl", "-w", "-l", f"{self.folder}/log", "-o", options, "start")

    def stop(self):
        self.run("pg_ctl", "-w", "-m", "immediate", "stop")


@contextlib.contextmanager
def running():
    """Start a server; stop it and remove its folder afterwards."""
    folder = tempfile.mkdtemp(prefix="kn")  # short: the path of a socket may have 107 characters
    os.chmod(folder, 0o777)
    server = Server(folder)
    try:
        server.run("initdb", "-U", "knoll", "-A", "trust", "--no-sync", "-E", "UTF8")
        server.start()
        yield server
        server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
