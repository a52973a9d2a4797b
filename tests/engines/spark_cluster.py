"""One Spark for all tests: a master and two workers on two addresses of this machine, speculation on, and a Connect
server in the driver. (Spark starts a second copy of a slow task on another host alone: one address would hide that.)

Whoever needs it asks for it. A session of another file is stopped first (`getOrCreate` would take it as it is, with its
number of failures allowed), and one that another file has stopped is started again: no order of tests matters.
"""

import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NAME = "tests of knoll"
ROOT = str(Path(__file__).parents[2])  # workers unpickle functions of tests
_REMOTE: dict = {}
_STARTED: list[subprocess.Popen] = []  # the master, then its workers
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.executor.memory": "512m",
    "spark.executorEnv.PYTHONPATH": ROOT,
    "spark.task.maxFailures": "4",
    "spark.sql.shuffle.partitions": "2",
    "spark.speculation": "true",
    "spark.speculation.interval": "50ms",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.multiplier": "1.5",
    "spark.speculation.efficiency.enabled": "false",  # it would ask how many records a task has read
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
}


def session():
    """Return the session of these tests, started if need be."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    running = SparkContext._active_spark_context
    if running is not None and running.appName == NAME:
        return SparkSession.builder.getOrCreate()
    stop()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = ROOT
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master(_start_cluster()).appName(NAME)
    for name, value in {**SETTINGS, "spark.connect.grpc.binding.port": str(_free_port())}.items():
        builder = builder.config(name, value)
    found = builder.getOrCreate()
    found.sparkContext.setLogLevel("OFF")
    return found


def remote():
    """Return a session of Connect with the same Spark."""
    from pyspark.sql.connect.session import SparkSession

    if (where := address()) not in _REMOTE:  # getOrCreate would hand out one of a server that has ended
        _REMOTE[where] = SparkSession.builder.remote(where).create()
    return _REMOTE[where]


def address():
    """Return the address of the Connect server."""
    return f"sc://127.0.0.1:{session().conf.get('spark.connect.grpc.binding.port')}"


def stop():
    """Stop whatever session there is."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    while _REMOTE:
        _REMOTE.popitem()[1].stop()  # before its server: a client would wait for it when the process ends
    if SparkContext._active_spark_context is not None:
        SparkSession.builder.getOrCreate().stop()
    while _STARTED:
        daemon = _STARTED.pop()
        daemon.terminate()
        daemon.wait(30)


def _start_cluster():
    """Start a master and two workers of one core each; return the address of the master."""
    port = _free_port()
    _STARTED.append(_daemon("master.Master", "--host", "127.0.0.1", "--port", str(port)))
    deadline = time.monotonic() + 60
    while not _answers(port):
        if time.monotonic() > deadline:
            raise TimeoutError("the master of Spark did not start within a minute")
        time.sleep(0.1)
    place = f"spark://127.0.0.1:{port}"
    for host in ("127.0.0.2", "127.0.0.3"):
        folder = tempfile.mkdtemp()
        _STARTED.append(
            _daemon("worker.Worker", "--host", host, "--cores", "1", "--memory", "600m", "--work-dir", folder, place)
        )
    return place


def _daemon(role, *arguments):
    import pyspark

    home = Path(pyspark.__file__).parent
    command = [home / "bin" / "spark-class", f"org.apache.spark.deploy.{role}", "--webui-port", "0", *arguments]
    environment = {**os.environ, "SPARK_HOME": str(home), "SPARK_DAEMON_MEMORY": "256m"}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([str(part) for part in command], env=environment, **quiet)


def _answers(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
